// SPDX-License-Identifier: GPL-3.0-or-later
// table.c - a constant table changes: its users get a copy of their own
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f
// carries: t.c:tab

#ifndef PATCHED
static const int tab[4] = { 1, 2, 3, 4 };
#else
static const int tab[4] = { 1, 2, 9, 4 };
#endif

int f(int x)
{
	return tab[x];
}

int g(int x)
{
	return x;
}
