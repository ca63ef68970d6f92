// SPDX-License-Identifier: GPL-3.0-or-later
// static_beside.c - an inlined function brings a new static local of the same name
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f
// carries: t.c:n.0~
// refers: t.c:n.0

#ifdef PATCHED
static int e(void)
{
	static int n = 3;

	return n++;
}
#endif

int f(void)
{
	static int n = 1;

#ifndef PATCHED
	return n++;
#else
	return e() + n++;
#endif
}
