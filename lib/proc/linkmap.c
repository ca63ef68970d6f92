// SPDX-License-Identifier: GPL-3.0-or-later
// linkmap.c - the dynamic linker's own list of what it has loaded

#include "proc/linkmap.h"

#include <stddef.h>

/* Longer than any process's list, and more than there can be: damaged ones may lead in circles. */
enum { LIST_MAX = 4096, LISTS_MAX = 64 };

/*
 * The first members of struct r_debug and struct link_map, <link.h>: debuggers rely on them, so
 * they don't change. Version 2 of the first (glibc 2.35, <link.h>, struct r_debug_extended) has a
 * successor, for the next name space.
 */
struct debug_head {
	int version;
	taddr map, brk;
	int state;
	taddr ldbase, next;
};

struct map_head {
	uint64_t bias;
	taddr name, dynamic, next, prev;
};

static int read_list(const struct proc *proc, taddr at, linkmap_vec *maps, struct uspl_err *err)
{
	for (int i = 0; at && i < LIST_MAX; i++) {
		struct linkmap *item;
		struct map_head map;
		bool there = false;
		int rc = proc_read_if_mapped(proc, at, &map, sizeof(map), &there, err);

		if (rc) {
			vec_release(maps);
			return rc;
		}
		if (!there)
			break;
		item = vec_push(maps);
		if (!item) {
			vec_release(maps);
			return uspl_fail_nomem(err);
		}
		*item = (struct linkmap){ at, map.dynamic };
		at = map.next;
	}
	return 0;
}

static bool holds(const linkmap_vec *maps, taddr dynamic)
{
	const struct linkmap *map;

	vec_for_each (maps, map)
		if (map->dynamic == dynamic)
			return true;
	return false;
}

/* *ret_there is false if there is no list. */
static int read_debug(const struct proc *proc, taddr at, struct debug_head *ret, bool *ret_there,
		      struct uspl_err *err)
{
	/* Of version 1, the rest isn't there. */
	const size_t first = offsetof(struct debug_head, brk);
	bool more = false;
	int rc = proc_read_if_mapped(proc, at, ret, first, ret_there, err);

	if (!rc && *ret_there && ret->version >= 2)
		rc = proc_read_if_mapped(proc, at, ret, sizeof(*ret), &more, err);
	if (!more)
		ret->next = 0;
	return rc;
}

int linkmaps_read(const struct proc *proc, taddr debug, taddr dynamic, linkmap_vec *ret,
		  struct uspl_err *err)
{
	auto_vec linkmap_vec first = { 0 };

	for (int i = 0; debug && i < LISTS_MAX; i++) {
		struct debug_head head = { 0 };
		linkmap_vec maps = { 0 };
		bool there = false;
		int rc = read_debug(proc, debug, &head, &there, err);

		if (rc)
			return rc;
		if (!there)
			break;
		rc = read_list(proc, head.map, &maps, err);
		if (rc)
			return rc;
		if (holds(&maps, dynamic)) {
			*ret = maps;
			return 0;
		}
		if (i == 0)
			first = maps;
		else
			vec_release(&maps);
		debug = head.next;
	}
	*ret = first;
	first = (linkmap_vec){ 0 };
	return 0;
}
