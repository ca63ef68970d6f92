// SPDX-License-Identifier: GPL-3.0-or-later
// heads.c - the mappings that may hold a record of ours

#include "proc/heads.h"

/* Reads the first words of the next mappings of the kind; none are left if n is 0 afterwards. */
static void read_some(struct heads *heads)
{
	const mapping_vec *maps = &heads->proc->maps;
	struct proc_piece pieces[PROC_PIECES_MAX];

	heads->at = heads->n = 0;
	for (; heads->next < maps->n && heads->n < PROC_PIECES_MAX; heads->next++) {
		const struct mapping *map = &maps->items[heads->next];

		if (!mapping_may_hold_record(map))
			continue;
		pieces[heads->n] = (struct proc_piece){ map->start, sizeof(heads->words[0]),
							&heads->words[heads->n] };
		heads->maps[heads->n++] = map;
	}
	heads->known = heads->n && proc_read_pieces(heads->proc, pieces, heads->n);
}

const struct mapping *heads_next(struct heads *heads)
{
	for (;;) {
		if (heads->at == heads->n)
			read_some(heads);
		if (!heads->n)
			return NULL;
		while (heads->at < heads->n) {
			size_t i = heads->at++;

			if (!heads->known || heads->words[i] == heads->magic)
				return heads->maps[i];
		}
	}
}
