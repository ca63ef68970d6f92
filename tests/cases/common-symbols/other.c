// SPDX-License-Identifier: GPL-3.0-or-later
// other.c - the other file with the variable

#include "serve.h"

int total;

int other_total(void);

int other_total(void)
{
	return total;
}
