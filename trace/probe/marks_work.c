// SPDX-License-Identifier: GPL-3.0-or-later
// marks_work.c - what switching markers on and off have in common

#include "trace/probe/marks_work.h"

#include <fnmatch.h>
#include <string.h>

#include "arch/arch.h"
#include "record/region_status.h"

void marks_work_release(struct work *work)
{
	marks_release(&work->marks);
	regions_release(&work->updates);
	vec_release(&work->changes);
	vec_release(&work->counts);
}

bool marks_work_is_wanted(const struct marks_request *request, const char *name)
{
	return !request->glob || !fnmatch(request->glob, name, 0);
}

bool marks_work_is_ours(const struct work *work, const struct mark_region *region)
{
	return !strcmp(region->head.session, work->request->session);
}

int marks_work_open(struct work *work, struct uspl_err *err)
{
	const struct mark_region *region;
	int rc = marks_read(work->proc, &work->marks, err);

	if (rc)
		return rc;
	work->n_old = work->marks.regions.n;
	rc = regions_read(work->proc, &work->updates, err);
	if (rc)
		return rc;
	region_status_find_gone(work->proc, work->modules, &work->updates);
	work->next_id = 1;
	vec_for_each (&work->marks.regions, region)
		if (marks_work_is_ours(work, region)) {
			if (!work->shared.shadow)
				work->shared = region->head.shared;
			if (region->head.first_id + region->head.n_probes > work->next_id)
				work->next_id = region->head.first_id + region->head.n_probes;
		}
	return 0;
}

bool marks_work_is_updated(const struct work *work, taddr entry)
{
	const struct region *region;
	const struct region_site *site;

	vec_for_each (&work->updates, region)
		vec_for_each (&region->sites, site)
			if (region_is_live(region) && region_site_entry(site) == entry)
				return true;
	return false;
}

struct mark_change *marks_work_add_change(struct work *work, taddr addr, const uint8_t *from)
{
	struct mark_change *change = vec_push(&work->changes);

	if (!change)
		return NULL;
	change->addr = addr;
	memcpy(change->from, from, sizeof(change->from));
	memcpy(change->to, from, sizeof(change->to));
	return change;
}

void marks_work_jump(taddr from, taddr to, uint8_t *code)
{
	/* All of it lies within reach of the module: checked when the code was made. */
	(void)arch_native()->jump_encode(from, to, code);
}

void marks_work_none(taddr site, taddr place, const uint8_t *own, uint8_t *ret)
{
	if (place == site)
		memcpy(ret, own, USPL_TRACE_SITE_BYTES);
	else
		(void)arch_native()->nop_encode(ret, USPL_TRACE_SITE_BYTES);
}

int marks_work_add_count(struct work *work, const struct uspl_probe *probe, int16_t add,
			 struct uspl_err *err)
{
	struct mark_count *count;

	if (!probe->semaphore)
		return 0;
	count = vec_push(&work->counts);
	if (!count)
		return uspl_fail_nomem(err);
	*count = (struct mark_count){ probe->semaphore, add };
	return 0;
}
