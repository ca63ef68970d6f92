// SPDX-License-Identifier: GPL-3.0-or-later
// goto_table.c - computed goto: the table comes along, with the new addresses
// ways: gcc -O2, gcc -O2 -fno-pie
// redirects: f
// carries: f

int outside(const char *);

int f(int x)
{
	static const void *const to[] = { &&a, &&b, &&c };

#ifdef PATCHED
	x = outside("z");
#endif
	goto *to[x];
a:
	return outside("a");
b:
	x += outside("b");
c:
	return x;
}
