// SPDX-License-Identifier: GPL-3.0-or-later
// static_swapped.c - two static locals of one function and name change places: their uses tell
// ways: gcc -O0, gcc -O3 -fno-pie, gcc -Os -fPIC, clang -O1
// redirects: f
// warns: none

int f(int x)
{
#ifndef PATCHED
	if (x == 'a') {
		static int n;

		return n += 1;
	} else if (x == 'b') {
		static int n;

		return n += 10;
	}
#else
	if (x == 'b') {
		static int n;

		return n += 10;
	} else if (x == 'a') {
		static int n;

		return n += 1;
	}
#endif
	return 0;
}
