// SPDX-License-Identifier: GPL-3.0-or-later
// explain.c - why everything is in the update: inlined, changed, new, needed by
// ways: gcc -O2, gcc -O2 -fPIC
// redirects: f g
// explains: target:
// explains: post.c:28: inlines 'low', which changed
// explains: first difference at f+0x
// explains: inlined from 'low':
// explains: post.c:33: changed
// explains: # "two"
// explains: 'count' at
// explains: new variable, 4 bytes, needed by 'g'
// explains: in all: 2 replaced, 0 new functions, 1 new variables, 0 copies of constants;

#include <stdio.h>

static inline int low(int x)
{
#ifndef PATCHED
	return x & 3;
#else
	return x & 7;
#endif
}

static int count;

int f(int x)
{
	return low(x);
}

int g(int x)
{
#ifdef PATCHED
	count++;
	puts("two");
#else
	puts("one");
#endif
	return x;
}
