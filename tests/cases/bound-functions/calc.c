// SPDX-License-Identifier: GPL-3.0-or-later
// calc.c - a library with a function and a variable whose names the program has, too

int calc(void);
int helper(void);

int factor = 7;

int helper(void)
{
	return 100;
}

int calc(void)
{
	return 1;
}
