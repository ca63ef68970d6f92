// SPDX-License-Identifier: GPL-3.0-or-later
// plus.c - a library with a variable of each thread's

__thread int added = 3;

int plus(int n);

int plus(int n)
{
	return n + added;
}
