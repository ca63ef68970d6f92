// SPDX-License-Identifier: GPL-3.0-or-later
// table_pointed_at.c - a constant table changes to which a variable points
// ways: gcc -O2, gcc -O2 -fno-pie
// refuses: data-change post.c:9: the constant 'tab' changes, and 'p' points to it

#ifndef PATCHED
static const int tab[4] = { 1, 2, 3, 4 };
#else
static const int tab[4] = { 1, 2, 9, 4 };
#endif
const int *p = tab;

int f(int x)
{
	return tab[x];
}

int g(int x)
{
	return x;
}
