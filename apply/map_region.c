// SPDX-License-Identifier: GPL-3.0-or-later
// map_region.c - memory for a region in the process

#include "apply/map_region.h"

#include <errno.h>
#include <inttypes.h>

#include "arch/arch.h"
#include "base/log.h"
#include "inject/inject.h"
#include "inject/rlimits.h"
#include "record/partial_mapping.h"

/* For page tables, mappings, and the process itself. */
#define RESERVE (512u << 10)
/* As far as addresses go. */
#define ANYWHERE (1ull << 47)

uint64_t map_region_need(const struct update *update, const struct update_target *target)
{
	uint64_t need = RESERVE + update->patch_len;
	struct objsec *const *sec;

	vec_for_each (&target->new_code->secs, sec)
		need += (*sec)->flags & SHF_ALLOC ? (*sec)->size : 0;
	/* A site may lie across two pages. */
	return need + target->functions.n * 2 * PAGE;
}

int map_region_find(const struct proc *proc, const struct module *module, uint64_t len, taddr *ret,
		    struct uspl_err *err)
{
	taddr map = mappings_find_hole(&proc->maps, module->start, module->end, len,
				       arch_native()->reach);

	if (!map)
		map = mappings_find_hole(&proc->maps, module->start, module->end, len, ANYWHERE);
	if (!map)
		return uspl_fail(err, USPL_E_OUT_OF_REACH,
				 "there is no room for %" PRIu64 " bytes in pid %d", len,
				 proc->pid);
	*ret = map;
	return 0;
}

bool map_region_is_near(const struct module *module, taddr map, uint64_t len)
{
	taddr low = map < module->start ? map : module->start;
	taddr high = map + len > module->end ? map + len : module->end;

	return high - low <= arch_native()->reach;
}

int map_region_map(struct proc *proc, const struct region *region,
		   const struct map_region_part *parts, size_t n, taddr result_page,
		   bool *ret_taken, struct uspl_err *err)
{
	struct inject_req reqs[PARTIAL_MAPPING_REQS + MAP_REGION_PARTS];
	size_t n_reqs = PARTIAL_MAPPING_REQS, done = 0;
	int64_t result;
	int rc;

	if (n > MAP_REGION_PARTS)
		return uspl_fail(err, USPL_E_BUG, "a region has no %zu parts", n);
	partial_mapping_begin(USPL_PARTIAL_MAGIC, region->map, region->map_len, region->self,
			      region->info_len, reqs);
	for (size_t i = 0; i < n; i++)
		if (parts[i].len && parts[i].prot != (PROT_READ | PROT_WRITE))
			reqs[n_reqs++] = inject_mmap(parts[i].addr, parts[i].len, parts[i].prot,
						     MAP_PRIVATE | MAP_FIXED);
	rc = inject_run_mapping(proc, result_page, reqs, n_reqs, &done, err);
	if (rc)
		return rc;
	result = reqs[done - 1].result;
	*ret_taken = reqs[0].result == -EEXIST;
	if (*ret_taken || (done == n_reqs && result >= 0))
		return 0;
	if (done > 1)
		map_region_give_back(proc, region);
	errno = (int)-result;
	rc = uspl_fail_errno(err, "cannot map %" PRIu64 " bytes in pid %d", region->map_len,
			     proc->pid);
	rlimits_hint(proc, (int)-result, err);
	return rc;
}

int map_region_fail_taken(const struct proc *proc, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "the place for the update in pid %d is taken again and again", proc->pid);
}

int map_region_unmap(struct proc *proc, const struct region *region, struct uspl_err *err)
{
	return inject_unmap(proc, region->map, region->map_len, err);
}

void map_region_give_back(struct proc *proc, const struct region *region)
{
	if (map_region_unmap(proc, region, NULL) != 0)
		log_info("load", "an unused mapping stays at 0x%" PRIx64, region->map);
}
