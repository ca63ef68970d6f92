// SPDX-License-Identifier: GPL-3.0-or-later
// table_global.c - a constant changes that others may know
// ways: any
// refuses: data-change 'tab'

#ifndef PATCHED
const int tab[4] = { 1, 2, 3, 4 };
#else
const int tab[4] = { 1, 2, 9, 4 };
#endif

int f(int x)
{
	return tab[x];
}

int g(int x)
{
	return x;
}
