// SPDX-License-Identifier: GPL-3.0-or-later
// alias.c - another name of a function that changes
// ways: gcc -O0, clang -O0
// redirects: f g
// refers: h

__attribute__((noinline)) int f(int x)
{
#ifndef PATCHED
	return x;
#else
	return x + 1;
#endif
}

int h(int) __attribute__((alias("f")));

int g(int x)
{
#ifndef PATCHED
	return 1;
#else
	return h(x);
#endif
}
