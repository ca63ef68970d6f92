// SPDX-License-Identifier: GPL-3.0-or-later
// new_pointer_table.c - a new table of functions and strings, old and new
// ways: any
// redirects: f
// carries: young entries
// refers: old

int outside(const char *);

int old(int x)
{
	return x;
}

#ifdef PATCHED
int young(int x)
{
	return x + 1;
}

struct entry {
	const char *name;
	int (*run)(int);
} entries[] = { { "old", old }, { "young", young } };
#endif

int f(int x)
{
#ifndef PATCHED
	return x;
#else
	return outside(entries[x].name) + entries[x].run(x);
#endif
}
