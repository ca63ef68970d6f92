// SPDX-License-Identifier: GPL-3.0-or-later
// strmap_test.c - keys that were made to meet don't

#include <stdint.h>

#include "base/strmap.h"
#include "tests/unit/tap.h"

enum { KEYS = 20000, CAP = 1 << 16, PART = 64 };

/* FNV-1a as it is published, and as a map without a basis of its own would use it. */
static size_t published(const char *key)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3ull;
	return (size_t)(h ^ h >> 32);
}

/* The longest run of slots that are taken: so many may be looked at for one key. */
static size_t longest_run(const struct strmap *map)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i < map->cap; i++) {
		run = map->slots[i].key ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

int main(void)
{
	struct strmap map = { 0 };
	size_t n = 0;
	bool all = true;

	for (unsigned int i = 0; n < KEYS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "f%u", i);
		if (published(key) % CAP >= CAP / PART)
			continue;
		all &= strmap_set(&map, key, &map);
		n++;
	}
	ok(all && map.n == KEYS && map.cap == CAP, "%zu keys of one sixty-fourth of the values", n);
	ok(longest_run(&map) < KEYS / 10, "they don't lie side by side: %zu do", longest_run(&map));
	strmap_release(&map);
	return tap_done();
}
