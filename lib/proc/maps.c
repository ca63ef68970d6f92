// SPDX-License-Identifier: GPL-3.0-or-later
// maps.c - what /proc/PID/maps says, and where there is room in it

#include "proc/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Linux refuses mappings below vm.mmap_min_addr (64 KiB by default), and x86-64 user space ends at
 * 2^47.
 */
#define LOWEST 0x10000ull
#define HIGHEST 0x7ffffffff000ull
/*
 * Left free between us and a neighbour, so that what grows (a stack, the next library) finds the
 * place it expects.
 */
#define DISTANCE (16 * PAGE)
/* The same where there is plenty of room. */
#define APART (4ull << 30)

/*
 * A number in front of `end`, which is passed; the rest of the text may be long, and isn't looked
 * at (sscanf measures all of it for each line).
 */
static bool take_number(const char **at, int base, char end, uint64_t *ret)
{
	char *behind;

	*ret = strtoull(*at, &behind, base);
	if (behind == *at || *behind != end)
		return false;
	*at = behind + 1;
	return true;
}

static bool take_perms(const char **at, struct mapping *map)
{
	const char *perms = *at;

	if (strnlen(perms, 5) < 5 || perms[4] != ' ')
		return false;
	map->read = perms[0] == 'r';
	map->write = perms[1] == 'w';
	map->exec = perms[2] == 'x';
	map->shared = perms[3] == 's';
	*at += 5;
	return true;
}

static int parse_line(const char *line, size_t len, struct mapping *map, struct uspl_err *err)
{
	static const char deleted[] = " (deleted)";
	const char *at = line;
	uint64_t major, minor;
	size_t path_len;

	/* The number of an inode may be the last thing in its line. */
	if (!take_number(&at, 16, '-', &map->start) || !take_number(&at, 16, ' ', &map->end) ||
	    !take_perms(&at, map) || !take_number(&at, 16, ' ', &map->offset) ||
	    !take_number(&at, 16, ':', &major) || !take_number(&at, 16, ' ', &minor) ||
	    (!take_number(&at, 10, ' ', &map->inode) && !take_number(&at, 10, '\n', &map->inode) &&
	     !take_number(&at, 10, '\0', &map->inode)))
		return uspl_fail(err, USPL_E_SYSTEM,
				 "cannot understand the line '%.*s' of a maps file",
				 len < 200 ? (int)len : 200, line);
	map->dev = major << 32 | minor;
	while (at < line + len && *at == ' ')
		at++;
	path_len = at < line + len ? len - (size_t)(at - line) : 0;
	if (path_len > strlen(deleted) &&
	    !memcmp(line + len - strlen(deleted), deleted, strlen(deleted))) {
		map->deleted = true;
		path_len -= strlen(deleted);
	}
	map->path = path_len ? strndup(at, path_len) : strdup("");
	return map->path ? 0 : uspl_fail_nomem(err);
}

int mappings_parse(const char *text, mapping_vec *ret, struct uspl_err *err)
{
	mapping_vec maps = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");
		struct mapping *map = vec_push(&maps);
		int rc = map ? parse_line(text, len, map, err) : uspl_fail_nomem(err);

		if (rc) {
			mappings_release(&maps);
			return rc;
		}
		text += len + (text[len] == '\n');
	}
	*ret = maps;
	return 0;
}

void mappings_release(mapping_vec *maps)
{
	struct mapping *map;

	vec_for_each (maps, map)
		free(map->path);
	vec_release(maps);
}

/* The hole before maps->items[i], or the one after the last mapping for i == n. */
static void hole_at(const mapping_vec *maps, size_t i, taddr *ret_start, taddr *ret_end)
{
	*ret_start = i ? maps->items[i - 1].end + DISTANCE : LOWEST;
	*ret_end = i < maps->n ? maps->items[i].start : HIGHEST;
	*ret_end = *ret_end > DISTANCE ? *ret_end - DISTANCE : 0;
	/* The last mapping may be the kernel's own, above all that a process can have. */
	if (*ret_end > HIGHEST)
		*ret_end = HIGHEST;
}

taddr mappings_find_hole(const mapping_vec *maps, taddr start, taddr end, uint64_t len,
			 uint64_t reach)
{
	taddr low = end > reach ? end - reach : 0, high = start + reach;

	for (size_t i = maps->n + 1; i-- > 0;) {
		taddr from, to;

		hole_at(maps, i, &from, &to);
		from = from < low ? (low + PAGE - 1) & ~(PAGE - 1) : from;
		to = to > start ? start : to;
		if (to > from && to - from >= len)
			return to - len;
	}
	for (size_t i = maps->n + 1; i-- > 0;) {
		taddr from, to;

		hole_at(maps, i, &from, &to);
		from = from < end ? end : from;
		to = to > high ? high & ~(PAGE - 1) : to;
		if (to > from && to - from >= len)
			return to - len;
	}
	return 0;
}

taddr mappings_find_wide(const mapping_vec *maps, uint64_t len)
{
	taddr from = 0, to = 0, apart;

	for (size_t i = 0; i <= maps->n; i++) {
		taddr start, end;

		hole_at(maps, i, &start, &end);
		if (end > start && end - start > to - from) {
			from = start;
			to = end;
		}
	}
	if (to - from < len)
		return 0;
	apart = (to - from - len) / 2;
	return ((apart > APART ? to - APART : to - apart) - len) & ~(PAGE - 1);
}

const struct mapping *mappings_at(const mapping_vec *maps, taddr addr)
{
	size_t low = vec_lower_bound(maps, it, it->end <= addr);

	return low < maps->n && maps->items[low].start <= addr ? &maps->items[low] : NULL;
}

bool mapping_is_nameless(const struct mapping *map)
{
	return !map->inode && !map->path[0] && !map->shared;
}

bool mapping_may_hold_record(const struct mapping *map)
{
	return mapping_is_nameless(map) && map->read && !map->exec;
}
