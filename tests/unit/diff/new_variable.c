// SPDX-License-Identifier: GPL-3.0-or-later
// new_variable.c - a new variable with its initial value
// ways: any
// redirects: f
// carries: fresh

#ifndef PATCHED
int f(int x)
{
	return x;
}
#else
int fresh = 77;

int f(int x)
{
	return x + fresh++;
}
#endif
