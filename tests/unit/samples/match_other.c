// SPDX-License-Identifier: GPL-3.0-or-later
// match_other.c - sample: the other unit of the program; it has a static function by the name of
// one in match.c

#include <stdio.h>

int other_value;
__thread int other_thread_value;
int other_function(int n);

static __attribute__((noinline)) int twice(int n)
{
	other_value += n;
	return n + n + 1;
}

int other_function(int n)
{
	printf("%d\n", twice(n));
	return twice(n) - 1;
}
