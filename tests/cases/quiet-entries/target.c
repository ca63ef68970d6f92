// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has functions with first instructions of many kinds

#include <stdio.h>

#include "serve.h"

static volatile int counter = 7;
static int seen, done = 1;

KEPT int first_loads(void);
KEPT int first_compares(int value);
KEPT int passes_on(int value);
KEPT int callee(int value);
KEPT int returns_at_once(int value);
KEPT long first_long(void);
KEPT int last_one(int value);
KEPT void empty(void);

/* mov counter(%rip), %eax */
int first_loads(void)
{
	return counter;
}

/* cmpl $7, counter(%rip) */
int first_compares(int value)
{
	return counter == 7 ? value : 0;
}

int callee(int value)
{
	return value + 1;
}

/* jmp callee */
int passes_on(int value)
{
	return callee(value);
}

int returns_at_once(int value)
{
	return value * 2 + 1;
}

/* movabs */
long first_long(void)
{
	return 5000000000;
}

/* ret */
void empty(void)
{
}

int last_one(int value)
{
	return value < 0 ? -value : value;
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	seen = done;
	empty();
	snprintf(reply, size, "%d %d %d %d %d %ld %d", first_loads(), first_compares(7),
		 passes_on(10), returns_at_once(10), last_one(-100), first_long(), seen);
}
