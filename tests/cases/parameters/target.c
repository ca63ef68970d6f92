// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - passes parameters of all kinds

#include <stdarg.h>
#include <stdio.h>

#include "serve.h"

struct pair {
	char text[24];
	long number;
};

KEPT struct pair make(const char *text, long number);
KEPT int sum(int n, ...);
KEPT void many(int a, int b, int c, int d, int e, int f, int g, int h, double x, double y,
	       struct pair pair, char *reply, size_t size);

struct pair make(const char *text, long number)
{
	struct pair pair = { .number = number };

	snprintf(pair.text, sizeof(pair.text), "%s", text);
	return pair;
}

int sum(int n, ...)
{
	va_list args;
	int total = 0;

	va_start(args, n);
	while (n-- > 0)
		total += va_arg(args, int);
	va_end(args);
	return total;
}

void many(int a, int b, int c, int d, int e, int f, int g, int h, double x, double y,
	  struct pair pair, char *reply, size_t size)
{
	snprintf(reply, size, "%d %d %d %d %d %d %d %d %.1f %.1f %s/%ld sum %d", a, b, c, d, e, f,
		 g, h, x, y, pair.text, pair.number, sum(9, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

void answer(const char *request, char *reply, size_t size)
{
	(void)request;
	many(1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, make("abc", 9), reply, size);
}
