// SPDX-License-Identifier: GPL-3.0-or-later
// goto_variable.c - computed goto through a table that the program may write
// ways: gcc -O2, gcc -O2 -fno-pie
// refuses: data-change 'to

int outside(const char *);

int f(int x)
{
	static void *to[] = { &&a, &&b, &&c };

	if (x > 2)
		to[x - 3] = to[0];
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
