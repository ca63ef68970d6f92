// SPDX-License-Identifier: GPL-3.0-or-later
// vec.c - a typed array that grows

#include "base/vec.h"

#include <stdint.h>
#include <string.h>

void *vec_push_(void **items, size_t *n, size_t *cap, size_t size)
{
	char *item;

	if (*n == *cap) {
		size_t want = *cap ? *cap * 2 : 8;
		void *grown;

		if (want > SIZE_MAX / size)
			return NULL;
		grown = realloc(*items, want * size);
		if (!grown)
			return NULL;
		*items = grown;
		*cap = want;
	}
	item = (char *)*items + (*n)++ * size;
	return memset(item, 0, size);
}
