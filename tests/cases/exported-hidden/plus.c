// SPDX-License-Identifier: GPL-3.0-or-later
// plus.c - a library with a function of its own

int plus(int n);
int next(int n);

__attribute__((noinline)) int plus(int n)
{
	return n + 1;
}

int next(int n)
{
	return plus(n);
}
