// SPDX-License-Identifier: GPL-3.0-or-later
// linkmap.c - the dynamic linker's own list of what it has loaded

#include "proc/linkmap.h"

/* Longer than any process's list: a damaged one may lead in circles. */
enum { LIST_MAX = 4096 };

/*
 * The first members of struct r_debug and struct link_map, <link.h>: debuggers rely on them, so
 * they don't change.
 */
struct debug_head {
	int version;
	taddr map;
};

struct map_head {
	uint64_t bias;
	taddr name, dynamic, next, prev;
};

int linkmaps_read(const struct proc *proc, taddr debug, linkmap_vec *ret, struct uspl_err *err)
{
	struct debug_head head = { 0 };
	linkmap_vec maps = { 0 };
	taddr at;

	if (debug && proc_read_some(proc, debug, &head, sizeof(head)) != sizeof(head))
		head.map = 0;
	at = head.map;
	for (int i = 0; at && i < LIST_MAX; i++) {
		struct linkmap *item;
		struct map_head map;

		if (proc_read_some(proc, at, &map, sizeof(map)) != sizeof(map))
			break;
		item = vec_push(&maps);
		if (!item) {
			vec_release(&maps);
			return uspl_fail_nomem(err);
		}
		*item = (struct linkmap){ at, map.dynamic };
		at = map.next;
	}
	*ret = maps;
	return 0;
}
