// SPDX-License-Identifier: GPL-3.0-or-later
// initial_zero.c - an initial value where there was none
// ways: any
// refuses: data-change 'v' changes from 0 to 1

#ifndef PATCHED
int v;
#else
int v = 1;
#endif

int f(void)
{
	return v++;
}
