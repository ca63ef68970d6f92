// SPDX-License-Identifier: GPL-3.0-or-later
// partial_mapping.c - memory that a tool has mapped in a process, and doesn't use yet

#include "record/partial_mapping.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/log.h"
#include "record/registry.h"

static struct inject_req store(taddr addr, uint64_t value)
{
	return (struct inject_req){ .kind = INJECT_STORE, .what = addr, .args = { value } };
}

void partial_mapping_begin(uint64_t magic, taddr map, uint64_t map_len, taddr self,
			   uint64_t info_len, struct inject_req *reqs)
{
	taddr last = map + map_len - PAGE;

	reqs[0] = inject_mmap(map, map_len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_NORESERVE);
	reqs[1] = store(self + offsetof(struct uspl_partial, map), map);
	reqs[2] = store(self + offsetof(struct uspl_partial, map_len), map_len);
	reqs[3] = store(self + offsetof(struct uspl_partial, magic), magic);
	reqs[4] = inject_syscall(SYS_mprotect, self, info_len, PROT_READ);
	reqs[5] = inject_syscall(SYS_mprotect, map, self - map, PROT_NONE);
	reqs[6] = inject_syscall(SYS_mprotect, last, PAGE, PROT_NONE);
}

void partial_mapping_sweep(struct proc *proc)
{
	VEC(struct uspl_partial) found = { 0 };
	struct uspl_partial *item;
	struct registry registry;
	struct record record;

	registry_begin(&registry, proc, RECORD_PARTIAL);
	while (registry_next(&registry, &record, NULL) > 0 && (item = vec_push(&found)))
		*item = record.head.partial;
	vec_for_each (&found, item)
		if (inject_unmap(proc, item->map, item->map_len, NULL) != 0)
			log_info("load", "an unfinished mapping stays at 0x%" PRIx64, item->map);
	if (found.n && proc_refresh_maps(proc, NULL) != 0)
		log_info("load", "the mappings of pid %d can't be read again", proc->pid);
	vec_release(&found);
}
