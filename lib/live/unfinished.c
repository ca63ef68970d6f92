// SPDX-License-Identifier: GPL-3.0-or-later
// unfinished.c - memory that a tool has mapped in a process, and not come to use

#include "live/unfinished.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/log.h"
#include "proc/heads.h"

/* No region is larger. */
#define LEN_MAX (1ull << 32)

static struct inject_req store(taddr addr, uint64_t value)
{
	return (struct inject_req){ .kind = INJECT_STORE, .what = addr, .args = { value } };
}

void unfinished_begin(uint64_t magic, taddr map, uint64_t map_len, taddr self, uint64_t info_len,
		      struct inject_req *reqs)
{
	taddr last = map + map_len - PAGE;

	reqs[0] = inject_mmap(map, map_len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_NORESERVE);
	reqs[1] = store(self + offsetof(struct uspl_unfinished, map), map);
	reqs[2] = store(self + offsetof(struct uspl_unfinished, map_len), map_len);
	reqs[3] = store(self + offsetof(struct uspl_unfinished, magic), magic);
	reqs[4] = inject_syscall(SYS_mprotect, self, info_len, PROT_READ);
	reqs[5] = inject_syscall(SYS_mprotect, map, self - map, PROT_NONE);
	reqs[6] = inject_syscall(SYS_mprotect, last, PAGE, PROT_NONE);
}

/* True if all of that is memory of the kind that a region is made of. */
static bool may_be_region(const struct proc *proc, taddr start, taddr end)
{
	while (start < end) {
		const struct mapping *map = proc_mapping_at(proc, start);

		if (!map || !mapping_is_nameless(map))
			return false;
		start = map->end;
	}
	return true;
}

bool unfinished_read(const struct proc *proc, const struct mapping *map, uint64_t magic,
		     struct uspl_unfinished *ret)
{
	return mapping_may_hold_record(map) &&
	       proc_read_some(proc, map->start, ret, sizeof(*ret)) == sizeof(*ret) &&
	       ret->magic == magic && ret->map < map->start && ret->map + ret->map_len > map->start;
}

static bool is_unfinished(const struct proc *proc, const struct mapping *map,
			  struct uspl_unfinished *ret)
{
	return unfinished_read(proc, map, USPL_UNFINISHED_MAGIC, ret) && ret->map_len <= LEN_MAX &&
	       may_be_region(proc, ret->map, ret->map + ret->map_len);
}

void unfinished_sweep(struct proc *proc)
{
	struct uspl_unfinished mark;
	struct heads heads = { .proc = proc, .magic = USPL_UNFINISHED_MAGIC };
	const struct mapping *map;
	VEC(struct uspl_unfinished) found = { 0 };
	struct uspl_unfinished *item;

	while ((map = heads_next(&heads)))
		if (is_unfinished(proc, map, &mark) && (item = vec_push(&found)))
			*item = mark;
	vec_for_each (&found, item)
		if (inject_unmap(proc, item->map, item->map_len, NULL) != 0)
			log_info("load", "an unfinished mapping stays at 0x%" PRIx64, item->map);
	if (found.n && proc_refresh_maps(proc, NULL) != 0)
		log_info("load", "the mappings of pid %d can't be read again", proc->pid);
	vec_release(&found);
}
