// SPDX-License-Identifier: GPL-3.0-or-later
// static_renumbered.c - a new static local renumbers the others; their storage stays
// ways: any
// redirects: f g
// carries: e

#ifdef PATCHED
__attribute__((noinline)) int e(void)
{
	static int n = 3;

	return n++;
}
#endif

int f(void)
{
	static int n = 1;

#ifdef PATCHED
	e();
#endif
	return n++;
}

int g(void)
{
	static int n = 2;

#ifndef PATCHED
	return n++;
#else
	return 5 + n++;
#endif
}
