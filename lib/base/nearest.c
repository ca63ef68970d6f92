// SPDX-License-Identifier: GPL-3.0-or-later
// nearest.c - the name that was meant by one that doesn't exist

#include "base/nearest.h"

#include <string.h>

/* Options and commands are shorter; a longer word is none of them. */
#define WORD_MAX 40

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters must be changed, left out, added or exchanged with the next one. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t k = 0; k <= n_b; k++)
		above[k] = k;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *first = before;

		row[0] = i;
		for (size_t k = 1; k <= n_b; k++) {
			row[k] = min(above[k - 1] + (a[i - 1] != b[k - 1]),
				     min(above[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = min(row[k], before[k - 2] + 1);
		}
		before = above;
		above = row;
		row = first;
	}
	return above[n_b];
}

void nearest_try(struct nearest *nearest, const char *name)
{
	size_t n_word = strlen(nearest->word), n_name = strlen(name), far;

	if (n_word < 2 || n_word > WORD_MAX || n_name > WORD_MAX)
		return;
	far = distance(nearest->word, n_word, name, n_name);
	if (n_word >= 3 && !strncmp(nearest->word, name, n_word))
		far = 1;
	if (far > (n_word > 4 ? 2 : 1) || (nearest->name && far >= nearest->distance))
		return;
	nearest->name = name;
	nearest->distance = far;
}
