// SPDX-License-Identifier: GPL-3.0-or-later
// server.c - a web server that has the C library work for it
//
//     /NUMBER     the number, out of as many strings that were allocated, sorted and freed
//     /words      how many words wordexp counts when it is to use a result of two words again, and
//                 to append one: CVE-2025-15281

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

#include "../serve.h"

enum { MAX_STRINGS = 1000 };

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int count_strings(int n)
{
	char **strings = calloc((size_t)n + 1, sizeof(*strings));
	int sorted = n > 0;

	for (int i = 0; i < n; i++)
		if (asprintf(&strings[i], "%d", n - i) < 0)
			return -1;
	qsort(strings, (size_t)n, sizeof(*strings), compare);
	for (int i = 1; i < n; i++)
		sorted += strcmp(strings[i - 1], strings[i]) < 0;
	for (int i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
	return sorted;
}

static int count_words(void)
{
	wordexp_t words;

	if (wordexp("one two", &words, 0) || wordexp("three", &words, WRDE_REUSE | WRDE_APPEND))
		return -1;
	/* The older version has left places before the last one as they were: nothing is freed. */
	return (int)words.we_wordc;
}

static int number_of(const char *path)
{
	int n = atoi(path);

	return strncmp(path, "words", 5) ? count_strings(n < MAX_STRINGS ? n : 0) : count_words();
}

int main(void)
{
	return serve();
}
