// SPDX-License-Identifier: GPL-3.0-or-later
// alias_added.c - a function that changes gets another name, by which new code calls it
// ways: gcc -O0, gcc -O2, clang -O2
// redirects: f g

__attribute__((noinline)) int f(int x)
{
#ifndef PATCHED
	return x;
#else
	return x + 1;
#endif
}

#ifdef PATCHED
int h(int) __attribute__((alias("f")));
#endif

int g(int x)
{
#ifndef PATCHED
	return 1;
#else
	return h(x);
#endif
}
