// SPDX-License-Identifier: GPL-3.0-or-later
// body.c - a function's body; a static variable stays where it is
// ways: any
// redirects: f
// carries: f
// refers: t.c:counter

static int counter = 5;

int bump(void)
{
	return counter++;
}

int f(int x)
{
#ifndef PATCHED
	return x + counter;
#else
	return x * 5 + counter;
#endif
}
