// SPDX-License-Identifier: GPL-3.0-or-later
// static_inlined.c - an inlined function brings a static local of the same name, size and value
// ways: gcc -O2, gcc -O2 -fno-pie, clang -O2
// redirects: f
// refers: counted

int counted;

#ifdef PATCHED
static int e(void)
{
	static int n;

	return n += 2;
}
#endif

int f(void)
{
	static int n;

#ifndef PATCHED
	return n++ + counted;
#else
	return e() + n++ + counted;
#endif
}
