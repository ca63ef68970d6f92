// SPDX-License-Identifier: GPL-3.0-or-later
// string_unmerged.c - strings side by side in one section, as -O0 leaves them
// ways: gcc -O0
// redirects: g

int outside(const char *);

int f(void)
{
	return outside("a");
}

int g(void)
{
#ifndef PATCHED
	return outside("b") + outside("c");
#else
	return outside("bxyz") + outside("c");
#endif
}

int h(void)
{
	return outside("c");
}
