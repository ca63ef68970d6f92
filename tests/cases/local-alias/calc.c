// SPDX-License-Identifier: GPL-3.0-or-later
// calc.c - a library that calls itself

int calc(int n);
int scale(int n);
int shift(int n);

__attribute__((noinline)) int scale(int n)
{
	return n * 3;
}

__attribute__((noinline)) int shift(int n)
{
	return n + 1000;
}

int calc(int n)
{
	return n;
}
