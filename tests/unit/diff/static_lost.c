// SPDX-License-Identifier: GPL-3.0-or-later
// static_lost.c - the function that a static local belongs to is gone, another one has one like it
// ways: gcc -O2, gcc -O2 -fno-pie
// refuses: unsupported used in a function that is gone

#ifndef PATCHED
int old(void)
{
	static int n = 1;

	return n += 3;
}
#else
int young(void)
{
	static int n = 1;

	return n += 3;
}
#endif
int f(int x)
{
#ifdef PATCHED
	return young() + x;
#else
	return x;
#endif
}
