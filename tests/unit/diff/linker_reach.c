// SPDX-License-Identifier: GPL-3.0-or-later
// linker_reach.c - pointers to before and behind a variable
// ways: any
// redirects: f
// refers: t.c:a

static int a[8];

int f(int x)
{
	int *p, sum = 0;

	for (p = a; p < a + 8; p++)
#ifndef PATCHED
		sum += *p;
#else
		sum -= *p;
#endif
	return sum + a[x - 3]++;
}
