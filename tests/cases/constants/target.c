// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - constants of all kinds

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static KEPT const char *count(int n)
{
	if (n == 1)
		return "one";
	return n == 2 ? "two" : "many";
}

static KEPT double number(int n)
{
	return n + 9.5;
}

static KEPT int value(int n)
{
	switch (n) {
	case 0:
		return 3;
	case 1:
		return 11;
	case 2:
		return 47;
	case 3:
		return 31;
	case 4:
		return 5;
	case 5:
		return 71;
	default:
		return 0;
	}
}

static KEPT const char *named(void)
{
	return __func__;
}

static KEPT int sum(int n)
{
	int numbers[] = { n, 3, 7, 19 };
	int total = 0;

	for (int i = 1; i < 4; i++)
		total += numbers[i];
	return total + (n != numbers[0]) + 1;
}

static KEPT const char *word(int n)
{
	const char *const words[] = { "nothing", "copied", "other" };

	return words[n ? 1 : 0];
}

void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	snprintf(reply, size, "%s %.2f %d %s %s %d", count(n), number(n), value(n), named(),
		 word(n), sum(n));
}
