// SPDX-License-Identifier: GPL-3.0-or-later
// new_zero_variable.c - a new variable without initial value; with -fcommon nobody defines it
// ways: any
// redirects: f
// carries: fresh

#ifndef PATCHED
int f(int x)
{
	return x;
}
#else
int fresh[4];

int f(int x)
{
	return fresh[x & 3]++;
}
#endif
