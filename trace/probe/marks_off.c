// SPDX-License-Identifier: GPL-3.0-or-later
// marks_off.c - markers switched off

#include <string.h>

#include "arch/arch.h"
#include "trace/engine/trace_buffers.h"
#include "trace/probe/marks_work.h"

#define CHAIN_MAX 1024

/*
 * The jump that leads to a probe: at the head of its site's chain, or the chain slot of the probe
 * before. 0: none does.
 */
static taddr find_before(const struct work *work, const struct uspl_probe *probe, taddr head)
{
	taddr at = head;

	for (size_t i = 0; i < CHAIN_MAX; i++) {
		const struct mark_region *region;
		taddr before = at;
		const struct uspl_probe *other =
			marks_step(work->proc, &work->marks, probe->site, &at, &region);

		if (other == probe || !other)
			return other ? before : 0;
	}
	return 0;
}

/* The end of the probe whose chain slot is at `chain_slot`. */
static taddr end_of(const struct work *work, taddr chain_slot)
{
	const struct mark_region *region;
	const struct uspl_probe *probe;

	vec_for_each (&work->marks.regions, region)
		vec_for_each (&region->probes, probe)
			if (probe->chain_slot == chain_slot)
				return probe->end;
	return 0;
}

/*
 * The jump at `before` leads where the probe's chain slot leads; `head`: it is the one that the
 * chain begins with.
 */
static int lead_past(struct work *work, const struct uspl_probe *probe, taddr before, bool head,
		     struct uspl_err *err)
{
	taddr next = mark_target(work->proc, probe->chain_slot), at = probe->chain_slot;
	const struct mark_region *region;
	const struct uspl_probe *other =
		marks_step(work->proc, &work->marks, probe->site, &at, &region);
	uint8_t now[USPL_TRACE_SITE_BYTES];
	struct mark_change *change;

	marks_work_jump(before, head ? probe->thunk : probe->inner, now);
	change = marks_work_add_change(work, before, now);
	if (!change)
		return uspl_fail_nomem(err);
	if (other)
		marks_work_jump(before, head ? other->thunk : other->inner, change->to);
	else if (next != probe->end)
		marks_work_jump(before, next, change->to);
	else if (head)
		marks_work_none(probe->site, before, probe->old_bytes, change->to);
	else
		marks_work_jump(before, end_of(work, before), change->to);
	return 0;
}

/* Takes a probe out of its chain. */
static int lead_out(struct work *work, const struct uspl_probe *probe, struct uspl_err *err)
{
	taddr head = marks_head(work->proc, &work->marks, probe->site),
	      before = find_before(work, probe, head);
	const struct uspl_trace_site *traced;
	int rc;

	if (!before)
		return 0;
	rc = lead_past(work, probe, before, before == head, err);
	if (rc)
		return rc;
	/*
	 * A thread may still be on its way into the body of a function that was traced when the
	 * probe came, and whose slot leads to it.
	 */
	traced = trace_session_site_at(&work->marks.traced, probe->site);
	if (traced && traced->body != head &&
	    mark_target(work->proc, traced->body) == probe->thunk) {
		rc = lead_past(work, probe, traced->body, true, err);
		if (rc)
			return rc;
	}
	return marks_work_add_count(work, probe, -1, err);
}

/* True if a probe of that marker stays on, in this or another session. */
static bool is_used(const struct work *work, const char *name)
{
	const struct mark_region *region;

	vec_for_each (&work->marks.regions, region)
		for (size_t i = 0; i < region->on.n; i++)
			if (region->on.items[i] &&
			    !strcmp(mark_text(region, region->probes.items[i].name), name))
				return true;
	return false;
}

/*
 * A probe that is taken out hands over where its chain slot leads. A change that would lead to the
 * switch's place that way is made to lead past it.
 */
static bool lead_past_switch(struct work *work, const struct uspl_mark_switch *item)
{
	struct mark_change *change;

	vec_for_each (&work->changes, change) {
		taddr end;

		if (arch_native()->jump_target(change->addr, change->to, sizeof(change->to)) !=
		    item->on)
			continue;
		end = end_of(work, change->addr);
		if (end)
			marks_work_jump(change->addr, end, change->to);
		else
			(void)arch_native()->nop_encode(change->to, sizeof(change->to));
		return true;
	}
	return false;
}

static int lead_back(struct work *work, const struct uspl_mark_switch *item, struct uspl_err *err)
{
	uint8_t now[USPL_TRACE_SITE_BYTES], none[USPL_TRACE_SITE_BYTES];
	taddr addr = marks_innermost(work->proc, &work->marks, item->site, none);
	struct mark_change *change;

	if (mark_target(work->proc, addr) != item->on || lead_past_switch(work, item))
		return 0;
	for (size_t i = 0; i < work->changes.n; i++)
		if (work->changes.items[i].addr == addr)
			return 0;
	marks_work_jump(addr, item->on, now);
	change = marks_work_add_change(work, addr, now);
	if (!change)
		return uspl_fail_nomem(err);
	memcpy(change->to, none, sizeof(none));
	return 0;
}

/* The session's probes that are wanted off. */
static int lead_all_out(struct work *work, struct uspl_err *err)
{
	struct mark_region *region;
	int rc = 0;

	vec_for_each (&work->marks.regions, region)
		for (size_t i = 0; marks_work_is_ours(work, region) && i < region->probes.n; i++) {
			const struct uspl_probe *probe = &region->probes.items[i];

			if (!region->on.items[i] ||
			    !marks_work_is_wanted(work->request, mark_text(region, probe->name)))
				continue;
			rc = lead_out(work, probe, err);
			region->on.items[i] = false;
			work->result.probes++;
			if (rc)
				return rc;
		}
	return 0;
}

/*
 * A switch goes back when no probe needs it. Its region doesn't say of which marker it is: where it
 * leads lies in the same function as that marker's site, but only the names tie them together, so
 * they are looked up.
 */
static int lead_all_back(struct work *work, struct uspl_err *err)
{
	const struct module *module;
	int rc;

	vec_for_each (work->modules, module) {
		auto_markers struct markers markers = { 0 };
		const struct marker_switch *item;
		const struct mark_region *region;
		bool has_switches = false;

		vec_for_each (&work->marks.regions, region)
			has_switches |= marks_work_is_ours(work, region) && region->switches.n &&
					region->head.module == module->start;
		if (!has_switches)
			continue;
		rc = marks_find(work->proc, module, &markers, err);
		if (rc)
			return rc;
		vec_for_each (&markers.switches, item) {
			struct uspl_mark_switch found = { item->site, item->on };

			if (is_used(work, item->name))
				continue;
			rc = lead_back(work, &found, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Unmaps the session's regions, and then what they shared. */
static int unload_session(struct work *work, struct uspl_err *err)
{
	const struct mark_region *region;
	int rc;

	vec_for_each (&work->marks.regions, region) {
		if (!marks_work_is_ours(work, region))
			continue;
		rc = mark_unload(work->proc, work->modules, region, err);
		if (rc)
			goto stays;
	}
	rc = trace_buffers_unmap(work->proc, &work->shared, err);
	if (rc)
		goto stays;
	return 0;

stays:
	uspl_context(err, "no marker is on any more, but memory stays mapped in pid %d",
		     work->proc->pid);
	return rc;
}

int marks_off(struct proc *proc, const module_vec *modules, const struct marks_request *request,
	      struct marks_switched *ret, struct uspl_err *err)
{
	auto_work struct work work = { .proc = proc, .modules = modules, .request = request };
	bool ends = !request->glob;
	int rc = marks_work_open(&work, err);

	if (rc)
		return rc;
	if (!work.shared.tables)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "no marker of pid %d is on", proc->pid);
	rc = lead_all_out(&work, err);
	if (rc)
		return rc;
	if (!ends && !work.result.probes)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "no marker '%s' of pid %d is on",
				 request->glob, proc->pid);
	rc = lead_all_back(&work, err);
	if (rc)
		return rc;
	if (work.changes.n) {
		rc = mark_switch(proc, modules, &work.changes, &work.counts, &work.result, err);
		if (rc)
			return rc;
	}
	work.result.cuts = marks_cuts(proc, &work.marks, request->session);
	if (ends) {
		rc = mark_drain(proc, modules, &work.marks, request, &work.result, err);
		if (rc)
			return rc;
	}
	if (ends && !work.result.inside) {
		rc = unload_session(&work, err);
		if (rc)
			return rc;
	}
	*ret = work.result;
	return 0;
}
