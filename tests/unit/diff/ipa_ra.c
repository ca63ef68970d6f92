// SPDX-License-Identifier: GPL-3.0-or-later
// ipa_ra.c - a caller relied on which registers its callee leaves alone
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f leaf

int outside(const char *);

__attribute__((noinline)) static int leaf(int x)
{
#ifndef PATCHED
	return x * 3;
#else
	return x * 3 + outside("");
#endif
}

int f(int a, int b)
{
	return leaf(a) + b;
}
