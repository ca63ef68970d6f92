// SPDX-License-Identifier: GPL-3.0-or-later
// sum.c - the library

#include "sum.h"

#include "serve.h"

#define PROTECTED __attribute__((visibility("protected")))
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int add(int a, int b);
PROTECTED int sum_of(int n);
PROTECTED int called;

KEPT int add(int a, int b)
{
	return a + b;
}

KEPT int sum_of(int n)
{
	return add(n, ++called);
}

KEPT int calls(void)
{
	return called;
}
