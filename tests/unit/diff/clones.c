// SPDX-License-Identifier: GPL-3.0-or-later
// clones.c - clones for a constant: called by their old names
// ways: gcc -O2
// redirects: low
// carries: t.c:low.constprop.0

int outside(const char *);

__attribute__((noinline)) static int low(int x, int y)
{
	if (y == 3)
		outside("three");
#ifndef PATCHED
	return x / y;
#else
	return x / y + outside("more");
#endif
}

int f(int x)
{
	return low(x, 3) + 1;
}

int g(int x)
{
	return low(x + 1, 3);
}
