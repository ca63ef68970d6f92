// SPDX-License-Identifier: GPL-3.0-or-later
// string.c - a string changes: its user does, not the others
// ways: any
// redirects: f
// refers: outside

int outside(const char *);

int f(void)
{
#ifndef PATCHED
	return outside("one");
#else
	return outside("eleven");
#endif
}

int g(void)
{
	return outside("two");
}
