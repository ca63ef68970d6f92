// SPDX-License-Identifier: GPL-3.0-or-later
// first.c - the library that comes first

#include "names.h"

int number = 1;

const char *whose(void)
{
	return "first";
}

const char *only_first(void)
{
	return "first";
}
