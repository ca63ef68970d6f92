// SPDX-License-Identifier: GPL-3.0-or-later
// plus.c - the library

#include "plus.h"

int plus(int n)
{
	return n + 1;
}
