// SPDX-License-Identifier: GPL-3.0-or-later
// plain.c - compiled without link-time optimisation; uses what is optimised, and is used by it

#include "mixed.h"

static int seen;

int plain(int n)
{
	seen++;
	return optimised(n) * 100 + seen;
}
