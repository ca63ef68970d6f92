// SPDX-License-Identifier: GPL-3.0-or-later
// a.c - weak definitions; b.c's strong ones come before two of them

#include "hooks.h"

__attribute__((weak)) int scale = 3;

__attribute__((weak)) int hook(int n)
{
	return n * scale;
}

__attribute__((weak)) int alone(int n)
{
	return n;
}

/* b.c has one, too, which the linker sees later. */
__attribute__((weak)) int first(int n)
{
	return n * 30;
}
