// SPDX-License-Identifier: GPL-3.0-or-later
// region_memory.c - what is applied in a process, read from its own memory and written there

#include "record/region.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "record/region_record.h"
#include "record/registry.h"
#include "record/chain_slot.h"

/* How many updates a process can hold, undone ones included. */
#define REGIONS_MAX 1024u

static int read_region(const struct proc *proc, const struct record *record, struct region *region,
		       struct uspl_err *err)
{
	const struct uspl_region *head = &record->head.update;
	auto_buf struct buf info = { 0 };
	/* In the tool's structures it takes up to three times the memory that it takes there. */
	int rc = proc_charge(proc, 1 + head->info_len / PAGE, 4 * head->info_len, err);

	if (rc)
		return rc;
	buf_addzero(&info, head->info_len);
	if (info.oom)
		return uspl_fail_nomem(err);
	rc = registry_read(proc, record, 0, info.data, head->info_len, err);
	if (rc)
		return rc;
	return region_decode(&info, head, region)
		       ? 0
		       : registry_fail_damaged(proc, RECORD_UPDATE, head->self, err);
}

static int by_order(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

int regions_read(const struct proc *proc, region_vec *ret, struct uspl_err *err)
{
	auto_regions region_vec regions = { 0 };
	struct registry registry;
	struct record record;
	int rc;

	registry_begin(&registry, proc, RECORD_UPDATE);
	while ((rc = registry_next(&registry, &record, err)) > 0) {
		struct region *region = vec_push(&regions);

		rc = region ? read_region(proc, &record, region, err) : uspl_fail_nomem(err);
		if (rc)
			return rc;
		if (regions.n > REGIONS_MAX)
			return uspl_fail(err, USPL_E_HOSTILE,
					 "pid %d holds more than %u records of updates", proc->pid,
					 REGIONS_MAX);
	}
	if (rc)
		return rc;
	rc = chain_slots_place(proc, &regions, err);
	if (rc)
		return rc;
	if (regions.n)
		qsort(regions.items, regions.n, sizeof(*regions.items), by_order);
	*ret = regions;
	regions = (region_vec){ 0 };
	return 0;
}

int region_write_record(const struct proc *proc, const struct region *region, struct uspl_err *err)
{
	auto_buf struct buf info = { 0 };
	int rc = region_encode(region, &info, err);

	if (rc)
		return rc;
	if (info.len != region->info_len) {
		rc = registry_fail_damaged(proc, RECORD_UPDATE, region->self, err);
		if (rc)
			return rc;
	}
	return proc_write(proc, region->self, info.data, info.len, err);
}

int region_write_state(const struct proc *proc, struct region *region, enum uspl_region_state state,
		       struct uspl_err *err)
{
	uint32_t raw = state;
	int rc = proc_write(proc, region->self + offsetof(struct uspl_region, state), &raw,
			    sizeof(raw), err);

	if (rc)
		return rc;
	region->state = state;
	return 0;
}

int region_write_retired(const struct proc *proc, struct region *region, struct uspl_err *err)
{
	static const taddr nowhere = 0;
	int rc = proc_write(proc, region->self + offsetof(struct uspl_region, module), &nowhere,
			    sizeof(nowhere), err);

	if (rc)
		return rc;
	region->module = nowhere;
	return region_write_state(proc, region, USPL_REGION_UNDONE, err);
}

void region_now(int64_t *ret_applied_at, uint64_t *ret_order)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*ret_applied_at = now.tv_sec;
	*ret_order = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int region_write_applied(const struct proc *proc, struct region *region, int64_t applied_at,
			 uint64_t order, struct uspl_err *err)
{
	struct {
		int64_t applied_at;
		uint64_t order;
	} raw = { applied_at, order };
	int rc;

	_Static_assert(offsetof(struct uspl_region, order) ==
			       offsetof(struct uspl_region, applied_at) + 8,
		       "both are written at once");
	rc = proc_write(proc, region->self + offsetof(struct uspl_region, applied_at), &raw,
			sizeof(raw), err);
	if (rc)
		return rc;
	region->applied_at = applied_at;
	region->order = order;
	return 0;
}

int region_write_thread_key(const struct proc *proc, struct region *region, uint32_t thread_key,
			    struct uspl_err *err)
{
	int rc = proc_write(proc, region->self + offsetof(struct uspl_region, thread_key),
			    &thread_key, sizeof(thread_key), err);

	if (rc)
		return rc;
	region->thread_key = thread_key;
	return 0;
}

taddr region_hooks_done_at(const struct region *region)
{
	return region->self + sizeof(struct uspl_region) + offsetof(struct uspl_region_hooks, done);
}

int region_write_phase(const struct proc *proc, struct region *region, enum uspl_hook_kind phase,
		       struct uspl_err *err)
{
	const uint32_t raw[2] = { phase, 0 };
	int rc = proc_write(proc, region_hooks_done_at(region) - sizeof(raw[0]), raw, sizeof(raw),
			    err);

	_Static_assert(offsetof(struct uspl_region_hooks, done) ==
			       offsetof(struct uspl_region_hooks, phase) + 4,
		       "both are written at once");
	if (rc)
		return rc;
	region->phase = phase;
	region->hooks_done = 0;
	return 0;
}

int region_read_phase(const struct proc *proc, struct region *region, struct uspl_err *err)
{
	uint32_t raw[2];
	int rc = proc_read(proc, region_hooks_done_at(region) - sizeof(raw[0]), raw, sizeof(raw),
			   err);

	if (rc)
		return rc;
	if (raw[0] > USPL_HOOK_LAST)
		return registry_fail_damaged(proc, RECORD_UPDATE, region->self, err);
	region->phase = (enum uspl_hook_kind)raw[0];
	region->hooks_done = raw[1];
	return 0;
}
