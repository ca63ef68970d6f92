// SPDX-License-Identifier: GPL-3.0-or-later
// static_moved.c - a static local moves into a new function with its code
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f
// carries: t.c:e
// refers: t.c:n.0

#ifndef PATCHED
int f(void)
{
	static int n = 1;

	return n++;
}
#else
__attribute__((noinline)) static int e(void)
{
	static int n = 1;

	return n++;
}

int f(void)
{
	return e() + 5;
}
#endif
