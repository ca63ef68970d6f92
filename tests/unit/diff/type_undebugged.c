// SPDX-License-Identifier: GPL-3.0-or-later
// type_undebugged.c - without debugging information types can't be compared, which is said
// ways: gcc -O2 -g0, clang -O2 -g0
// redirects: f
// warns: t.c has no debugging information

int f(int x)
{
#ifdef PATCHED
	return x * 3;
#else
	return x * 5;
#endif
}
