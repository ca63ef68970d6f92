// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - goes through arrays to their ends

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static int numbers[4] = { 1, 2, 3, 4 };
static int others[4] = { 10, 20, 30, 40 };
static const char letters[3] = { 'a', 'b', 'c' };

static KEPT int sum(int *from, const int *to)
{
	int total = 0;

	while (from < to)
		total += *from++;
	return total;
}

static KEPT int sum_numbers(void)
{
	int total = 0;

	for (int *at = numbers; at != numbers + 4; at++)
		total += *at;
	return total;
}

static KEPT int count_letters(void)
{
	int n = 0;

	for (const char *at = letters + sizeof(letters); at != letters; at--)
		n += at[-1] >= 'a';
	return n;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "clear"))
		memset(numbers, 0, sizeof(numbers));
	snprintf(reply, size, "%d %d %d", sum_numbers(), sum(others, others + 4), count_letters());
}
