// SPDX-License-Identifier: GPL-3.0-or-later
// static_ambiguous.c - two static locals of one name that can't be told apart
// ways: gcc -O2, gcc -O2 -fno-pie
// refuses: unsupported which static variable 'n' is which

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
	return n++;
#else
	return e() + n++;
#endif
}
