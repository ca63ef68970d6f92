// SPDX-License-Identifier: GPL-3.0-or-later
// inlined.c - an inlined function changes: its callers did
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f g

static inline int low(int x)
{
#ifndef PATCHED
	return x / 3;
#else
	return x / 7;
#endif
}

int f(int x)
{
	return low(x);
}

int g(int x)
{
	return low(x) + 1;
}

int h(int x)
{
	return x;
}
