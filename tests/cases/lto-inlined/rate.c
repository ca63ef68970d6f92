// SPDX-License-Identifier: GPL-3.0-or-later
// rate.c - a function that others have inlined

#include "rate.h"

int rate(int n)
{
	return n * 7;
}
