// SPDX-License-Identifier: GPL-3.0-or-later
// static_ambiguous.c - two static locals of one function and name, on new lines and with a new use each
// ways: any
// refuses: unsupported which static variable 'n' is which: several of that name change in 'f'

int g(int n), h(int n);

int f(int x)
{
#ifndef PATCHED
	if (x) {
		static int n;

		return n = g(n);
	} else {
		static int n;

		return n = h(n);
	}
#else
	if (x) {
		static int n;

		return n = g(n + 1);
	} else {
		static int n;

		return n = h(n + 2);
	}
#endif
}
