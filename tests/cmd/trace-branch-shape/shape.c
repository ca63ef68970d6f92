// SPDX-License-Identifier: GPL-3.0-or-later
// shape.c - the same code with branches that are counted, and with -DPLAIN; a program in C and in
// C++ at once

#ifdef PLAIN
#define uspl_likely(x) __builtin_expect(!!(x), 1)
#define uspl_unlikely(x) __builtin_expect(!!(x), 0)
#else
#include <uspl/branch.h>
#endif

int one(int x);
int first(int x, const int *all);
int many(int x, int y);

int first(int x, const int *all)
{
	if (uspl_likely(x > 3))
		return one(x);
	return all[0] + 5;
}

int many(int x, int y)
{
	int n = 0;

	while (uspl_likely(x-- > 0)) {
		if (uspl_unlikely(n == y && x))
			return one(n);
		n += one(y);
	}
	return n;
}
