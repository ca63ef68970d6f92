// SPDX-License-Identifier: GPL-3.0-or-later
// alias_added.c - a function that changes gets another name
// ways: gcc -O0, gcc -O2
// refuses: unsupported another name of 'f'

int f(int x)
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
