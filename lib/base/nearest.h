/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest.h - the name that was meant by one that doesn't exist */
#ifndef USPL_BASE_NEAREST_H
#define USPL_BASE_NEAREST_H

#include "base/types.h"

/* The best of the names that were compared with a word. */
struct nearest {
	const char *word, *name; /* name: the caller's, NULL if none is near */
	size_t distance;
};

/*
 * Compares one more name with the word. A name is near if the word is its beginning, of three
 * letters or more, or if few letters were typed wrongly, left out, added or exchanged: one of a
 * word of up to four letters, two of a longer one (optimal string alignment; most typing errors are
 * a single one of these, Damerau 1964). Of two that are equally near the first one stays.
 */
void nearest_try(struct nearest *nearest, const char *name);

#endif
