// SPDX-License-Identifier: GPL-3.0-or-later
// b.c - what overrides the weak ones of a.c

#include "hooks.h"

int scale = 2;

int hook(int n)
{
	return n * 5;
}

__attribute__((weak)) int first(int n)
{
	return n * 70;
}
