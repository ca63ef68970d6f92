// SPDX-License-Identifier: GPL-3.0-or-later
// table_chain.c - a table of tables: both are copied
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f g
// carries: t.c:tab t.c:all

#ifndef PATCHED
static const int tab[4] = { 1, 2, 3, 4 };
#else
static const int tab[4] = { 1, 2, 9, 4 };
#endif
static const int *const all[] = { tab, tab + 1 };

int f(int x)
{
	return *all[x];
}

int g(int x)
{
	return tab[x];
}
