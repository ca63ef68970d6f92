// SPDX-License-Identifier: GPL-3.0-or-later
// initial_value.c - another initial value
// ways: any
// refuses: data-change post.c:9: the initial value of 'counter' changes from 5 to 6

#ifndef PATCHED
static int counter = 5;
#else
static int counter = 6;
#endif

int bump(void)
{
	return counter++;
}
