// SPDX-License-Identifier: GPL-3.0-or-later
// strmap.c - a map from strings to pointers: open addressing, linear probing, FNV-1a
/*
 * Keys come out of files and processes that any user may have made. If the hash is known, all keys
 * can have one value, and the map is a list. So each process begins with another basis.
 */

#include "base/strmap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Before there is a second thread. */
static uint64_t basis;

__attribute__((constructor)) static void choose_basis(void)
{
	if (getrandom(&basis, sizeof(basis), GRND_NONBLOCK) != sizeof(basis))
		basis = 0xcbf29ce484222325ull;
}

static size_t hash(const char *key)
{
	uint64_t h = basis;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3ull;
	return (size_t)(h ^ h >> 32);
}

/* The slot that holds key, or the free one where it belongs. The map is never full. */
static struct strmap_slot *find(const struct strmap *map, const char *key)
{
	size_t i = hash(key) & (map->cap - 1);

	while (map->slots[i].key && strcmp(map->slots[i].key, key))
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

static bool grow(struct strmap *map)
{
	struct strmap bigger = { .cap = map->cap ? map->cap * 2 : 64, .n = map->n };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].key)
			*find(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return true;
}

bool strmap_set(struct strmap *map, const char *key, void *value)
{
	struct strmap_slot *slot;

	if (map->n * 2 >= map->cap && !grow(map))
		return false;
	slot = find(map, key);
	if (!slot->key) {
		slot->key = strdup(key);
		if (!slot->key)
			return false;
		map->n++;
	}
	slot->value = value;
	return true;
}

void *strmap_get(const struct strmap *map, const char *key)
{
	return map->cap ? find(map, key)->value : NULL;
}

void strmap_release(struct strmap *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->slots[i].key);
	free(map->slots);
	*map = (struct strmap){ 0 };
}
