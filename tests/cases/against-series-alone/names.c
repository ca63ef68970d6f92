// SPDX-License-Identifier: GPL-3.0-or-later
// names.c - a function of another source

#include "names.h"

int count_name(const char *name)
{
	int n = 0;

	while (name[n])
		n++;
	return n;
}
