// SPDX-License-Identifier: GPL-3.0-or-later
// gmon.c - where the profiler of a program that was built with -pg keeps what it has counted

#include "safety/gmon.h"

#include <string.h>
#include <sys/gmon.h>

#include "base/buf.h"

/* A module's initialised variables take no more, but for tables that are looked at in part. */
#define LOOK_MAX (16u << 20)

/* The sizes belong together, as __monstartup computes them, and the table lies in memory. */
static bool is_sound(const mapping_vec *maps, const struct gmonparam *param)
{
	taddr tos = (taddr)param->tos;
	const struct mapping *map;

	if (!tos || param->tolimit <= 0 || param->lowpc >= param->highpc ||
	    param->textsize != param->highpc - param->lowpc ||
	    param->tossize / sizeof(struct tostruct) != (uint64_t)param->tolimit ||
	    param->tossize % sizeof(struct tostruct))
		return false;
	map = mappings_at(maps, tos);
	return map && map->write && param->tossize <= map->end - tos;
}

static bool look_at(const struct proc *proc, const mapping_vec *maps, const struct mapping *map,
		    struct gmonparam *ret)
{
	auto_buf struct buf bytes = { 0 };
	uint64_t len = map->end - map->start < LOOK_MAX ? map->end - map->start : LOOK_MAX;

	buf_addzero(&bytes, len);
	if (bytes.oom)
		return false;
	len = proc_read_some(proc, map->start, bytes.data, len);
	for (uint64_t at = 0; at + sizeof(*ret) <= len; at += sizeof(uint64_t)) {
		memcpy(ret, bytes.data + at, sizeof(*ret));
		if (is_sound(maps, ret))
			return true;
	}
	return false;
}

void gmon_find(const struct proc *proc, const mapping_vec *maps, taddr *ret_start, taddr *ret_end)
{
	const struct mapping *map;
	struct gmonparam param;

	*ret_start = *ret_end = 0;
	vec_for_each (maps, map) {
		if (!map->write || !map->inode || map->shared || !look_at(proc, maps, map, &param))
			continue;
		*ret_start = (taddr)param.tos;
		*ret_end = *ret_start + param.tossize;
		return;
	}
}
