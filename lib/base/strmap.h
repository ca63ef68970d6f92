/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strmap.h - a map from strings to pointers; keys are copied, values are the caller's */
#ifndef USPL_BASE_STRMAP_H
#define USPL_BASE_STRMAP_H

#include "base/cleanup.h"
#include "base/types.h"

struct strmap_slot {
	char *key; /* NULL: the slot is free */
	void *value;
};

/* Zero-initialise to make an empty map. */
struct strmap {
	struct strmap_slot *slots;
	size_t n, cap;
};

/* Sets key to value, replacing an older value. Returns false when out of memory. */
bool strmap_set(struct strmap *map, const char *key, void *value) uspl_must_check;
/* The value of key, or NULL. */
void *strmap_get(const struct strmap *map, const char *key);
/* Frees keys and slots, not the values. */
void strmap_release(struct strmap *map);

DEFINE_AUTO_RELEASE(strmap, struct strmap, strmap_release)
#define auto_strmap __attribute__((cleanup(cleanup_strmap_)))

#endif
