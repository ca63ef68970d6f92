// SPDX-License-Identifier: GPL-3.0-or-later
// keeper.c - has a pair, and looks at nothing in it
#include "pair.h"

static struct pair *kept;

int pair_is_kept(void)
{
	return kept != NULL;
}
