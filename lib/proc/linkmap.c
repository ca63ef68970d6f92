// SPDX-License-Identifier: GPL-3.0-or-later
// linkmap.c - the dynamic linker's own list of what it has loaded

#include "proc/linkmap.h"

#include <stddef.h>
#include <string.h>

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
	const struct linkmap *map;

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
		vec_for_each (&maps, map)
			if (map->dynamic == dynamic) {
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

/* RT_CONSISTENT, <link.h> */
#define SETTLED 0

static int keep_seen(struct linkmap_watch *watch, taddr at, const void *bytes, size_t len,
		     struct uspl_err *err)
{
	struct linkmap_place *place = vec_push(&watch->places);

	if (!place)
		return uspl_fail_nomem(err);
	*place = (struct linkmap_place){ at, len };
	buf_add(&watch->seen, bytes, len);
	return watch->seen.oom ? uspl_fail_nomem(err) : 0;
}

static int see_list(const struct proc *proc, taddr at, struct linkmap_watch *watch,
		    struct uspl_err *err)
{
	for (int i = 0; at && i < LIST_MAX; i++) {
		struct map_head map;
		int rc;

		/* It changes at this moment. */
		if (proc_read_some(proc, at, &map, sizeof(map)) != sizeof(map)) {
			watch->settled = false;
			return 0;
		}
		rc = keep_seen(watch, at, &map, sizeof(map), err);
		if (rc)
			return rc;
		at = map.next;
	}
	return 0;
}

int linkmap_watch_read(const struct proc *proc, taddr debug, struct linkmap_watch *watch,
		       struct uspl_err *err)
{
	linkmap_watch_release(watch);
	watch->settled = true;
	for (int i = 0; debug && i < LISTS_MAX; i++) {
		struct debug_head head = { 0 };
		bool there = false;
		int rc = read_debug(proc, debug, &head, &there, err);

		if (rc)
			return rc;
		if (!there)
			break;
		/* `next` alone isn't there in all versions. */
		rc = keep_seen(watch, debug, &head, offsetof(struct debug_head, brk), err);
		if (rc)
			return rc;
		if (head.version >= 2) {
			rc = keep_seen(watch, debug + offsetof(struct debug_head, next), &head.next,
				       sizeof(head.next), err);
			if (rc)
				return rc;
		}
		rc = see_list(proc, head.map, watch, err);
		if (rc)
			return rc;
		if (proc_read_some(proc, debug + offsetof(struct debug_head, state), &head.state,
				   sizeof(head.state)) != sizeof(head.state) ||
		    head.state != SETTLED)
			watch->settled = false;
		debug = head.next;
	}
	return 0;
}

bool linkmap_watch_same(const struct proc *proc, struct linkmap_watch *watch)
{
	struct proc_piece pieces[PROC_PIECES_MAX];
	size_t at = 0;

	if (!watch->settled)
		return false;
	if (watch->now.len != watch->seen.len) {
		buf_release(&watch->now);
		buf_addzero(&watch->now, watch->seen.len);
		if (watch->now.oom)
			return false;
	}
	for (size_t i = 0; i < watch->places.n;) {
		size_t n = 0;

		for (; n < PROC_PIECES_MAX && i < watch->places.n; i++, n++) {
			const struct linkmap_place *place = &watch->places.items[i];

			pieces[n] = (struct proc_piece){ place->addr, place->len,
							 watch->now.data + at };
			at += place->len;
		}
		if (!proc_read_pieces(proc, pieces, n))
			return false;
	}
	return !memcmp(watch->now.data, watch->seen.data, watch->seen.len);
}

void linkmap_watch_release(struct linkmap_watch *watch)
{
	vec_release(&watch->places);
	buf_release(&watch->seen);
	buf_release(&watch->now);
}
