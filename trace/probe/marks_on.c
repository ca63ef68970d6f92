// SPDX-License-Identifier: GPL-3.0-or-later
// marks_on.c - markers switched on

#include <fnmatch.h>
#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "record/overlay.h"
#include "switch/trampolines.h"
#include "trace/engine/clocks.h"
#include "trace/engine/runtimes.h"
#include "trace/engine/session.h"
#include "trace/engine/shadow_maps.h"
#include "trace/engine/trace_buffers.h"
#include "trace/probe/marks_work.h"

int marks_find(const struct proc *proc, const struct module *module, struct markers *ret,
	       struct uspl_err *err)
{
	struct image *image;
	int rc = overlay_image(proc, module, &image, err);

	if (rc)
		return rc;
	rc = markers_find(proc, module, image, ret, err);
	image_free(image);
	return rc;
}

/* The functions that are requested: what they are without their updates. */
static int find_functions(const struct work *work, const struct module *module, struct markers *ret,
			  struct uspl_err *err)
{
	const struct marks_request *request = work->request;
	struct image *image;
	int rc = overlay_bare_image(work->proc, module, &work->updates, &work->marks, &image, err);

	if (rc)
		return rc;
	rc = markers_add_functions(work->proc, image, request->glob, request->returns, ret, err);
	image_free(image);
	return rc;
}

static int make_session(struct work *work, struct uspl_err *err)
{
	const struct trace_request request = { .ring_bytes = work->request->ring_bytes,
					       .entries = true };
	struct uspl_trace_counters counters = { .enabled = 1 };
	struct trace_clocks clocks;
	int rc = trace_buffers_map(work->proc, &request, &work->shared, err);
	if (rc)
		return rc;
	work->fresh = true;
	clocks_read(&clocks);
	work->shared.start_ticks = clocks.ticks;
	work->shared.start_ns = clocks.ns;
	return proc_write(work->proc, work->shared.counters, &counters, sizeof(counters), err);
}

/* A shadow that no session has; 0 if there is none left. */
static uint64_t free_shadow(const struct proc *proc, const struct marks *marks)
{
	uint64_t choices[USPL_MARK_SHADOWS];
	size_t n = 0;

	for (uint64_t number = 1; number < USPL_MARK_SHADOWS; number++) {
		uint64_t shadow = number << USPL_MARK_SHADOW_SHIFT;
		const struct mark_region *region;
		bool is_free = true;

		vec_for_each (&marks->regions, region)
			is_free &= region->head.shared.shadow != shadow;
		if (is_free)
			choices[n++] = shadow;
	}
	return shadow_maps_choose(proc, choices, n);
}

/* The session's probe at that site, if it is on. */
static bool has_probe(const struct work *work, taddr site)
{
	const struct mark_region *region;

	vec_for_each (&work->marks.regions, region)
		for (size_t i = 0; marks_work_is_ours(work, region) && i < region->on.n; i++)
			if (region->probes.items[i].site == site && region->on.items[i])
				return true;
	return false;
}

/*
 * True if no other tool's jump is at the switch, or it is on. A function may begin with it, and be
 * traced, or have probes: then it is behind these.
 */
static bool is_free_switch(const struct work *work, taddr site, taddr on)
{
	uint8_t now[USPL_TRACE_SITE_BYTES], none[USPL_TRACE_SITE_BYTES];
	taddr addr = marks_innermost(work->proc, &work->marks, site, none);

	return proc_read_some(work->proc, addr, now, sizeof(now)) == sizeof(now) &&
	       (!memcmp(now, none, sizeof(now)) || mark_target(work->proc, addr) == on);
}

/* True if a marker with which the function begins is switched on by a jump to `to`. */
static bool is_switch(const struct work *work, taddr site, taddr to)
{
	const struct mark_region *region;
	const struct uspl_mark_switch *item;

	vec_for_each (&work->marks.regions, region)
		vec_for_each (&region->switches, item)
			if (item->site == site && item->on == to)
				return true;
	return false;
}

/*
 * True if what is at the site's place is known: no tool's jump, a probe's, or that of an update of
 * the function that begins there, or of a marker's switch with which it does.
 */
static bool is_free(const struct work *work, const struct marker *marker)
{
	const struct mark_region *region;
	uint8_t now[USPL_TRACE_SITE_BYTES], none[USPL_TRACE_SITE_BYTES];
	taddr head = marks_head(work->proc, &work->marks, marker->site), at = head;

	if (proc_read_some(work->proc, head, now, sizeof(now)) != sizeof(now))
		return false;
	marks_work_none(marker->site, head, marker->old, none);
	return !memcmp(now, none, sizeof(now)) ||
	       marks_step(work->proc, &work->marks, marker->site, &at, &region) ||
	       (mark_target(work->proc, head) && marks_work_is_updated(work, marker->site)) ||
	       is_switch(work, marker->site, mark_target(work->proc, head));
}

/* A site that no probe can be put to; the first one's reason is told. */
static void leave_out(struct work *work, const char *name, const char *why)
{
	if (!work->result.impossible++)
		snprintf(work->result.why, sizeof(work->result.why), "'%.80s': %s", name, why);
}

static bool has_site(const struct mark_plan *plan, taddr site)
{
	for (size_t i = 0; i < plan->sites.n; i++)
		if (plan->sites.items[i]->site == site)
			return true;
	return false;
}

static int choose_sites(struct work *work, const struct markers *markers, struct mark_plan *plan,
			struct uspl_err *err)
{
	const struct marker *marker;

	vec_for_each (&markers->sites, marker) {
		const struct marker **place;

		if (!marks_work_is_wanted(work->request, marker->name))
			continue;
		if (marker->why[0]) {
			leave_out(work, marker->name, marker->why);
			continue;
		}
		if (!is_free(work, marker)) {
			leave_out(work, marker->name, "the code at its place is changed");
			continue;
		}
		if (has_probe(work, marker->site)) {
			work->result.already++;
			continue;
		}
		/* Two notes may tell of one site. */
		if (has_site(plan, marker->site))
			continue;
		place = vec_push(&plan->sites);
		if (!place)
			return uspl_fail_nomem(err);
		*place = marker;
	}
	return 0;
}

static bool has_name(const struct mark_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->sites.n; i++)
		if (!strcmp(plan->sites.items[i]->name, name))
			return true;
	return false;
}

static int choose_switches(struct work *work, const struct markers *markers, struct mark_plan *plan,
			   struct uspl_err *err)
{
	const struct marker_switch *item;

	vec_for_each (&markers->switches, item) {
		const struct marker_switch **place;

		if (!has_name(plan, item->name))
			continue;
		if (!is_free_switch(work, item->site, item->on)) {
			leave_out(work, item->name, "the function that begins with it is patched");
			continue;
		}
		place = vec_push(&plan->switches);
		if (!place)
			return uspl_fail_nomem(err);
		*place = item;
	}
	return 0;
}

/*
 * What a new probe that takes the place of `now` at `head` leads on to: the first probe that there
 * is, an update's new code, the arguments of a marker with which the function begins, or else its
 * own end.
 */
static taddr next_of(const struct work *work, const struct uspl_probe *probe, taddr head,
		     const uint8_t *now, const uint8_t *none)
{
	uint8_t entry[USPL_TRACE_SITE_BYTES];
	const struct mark_region *region;
	const struct uspl_probe *first;
	taddr to = mark_target(work->proc, head), at = head;

	if (!memcmp(now, none, sizeof(entry)))
		return probe->end;
	first = marks_step(work->proc, &work->marks, probe->site, &at, &region);
	if (first)
		return first->inner;
	if (is_switch(work, probe->site, to))
		return to;
	/* It may still lead to the update's trampoline. */
	if (!marks_work_is_updated(work, probe->site) ||
	    !arch_native()->jump_encode(probe->site, to, entry))
		return 0;
	trampolines_make_direct(&work->updates, probe->site, entry);
	return arch_native()->jump_target(probe->site, entry, sizeof(entry));
}

/* A new probe becomes the first one of its site's chain. */
static int lead_in(struct work *work, const struct uspl_probe *probe, struct uspl_err *err)
{
	uint8_t now[USPL_TRACE_SITE_BYTES], none[USPL_TRACE_SITE_BYTES],
		chain_slot[USPL_TRACE_SITE_BYTES];
	taddr head = marks_head(work->proc, &work->marks, probe->site), next;
	struct mark_change *change;
	int rc = proc_read(work->proc, head, now, sizeof(now), err);

	if (rc)
		return rc;
	marks_work_none(probe->site, head, probe->old_bytes, none);
	next = next_of(work, probe, head, now, none);
	if (!next || !arch_native()->jump_encode(probe->chain_slot, next, chain_slot))
		return uspl_fail(err, USPL_E_OVERWRITTEN,
				 "the marker at 0x%llx holds other bytes than expected",
				 (unsigned long long)probe->site);
	rc = proc_write(work->proc, probe->chain_slot, chain_slot, sizeof(chain_slot), err);
	if (rc)
		return rc;
	change = marks_work_add_change(work, head, now);
	if (!change)
		return uspl_fail_nomem(err);
	marks_work_jump(head, probe->thunk, change->to);
	change->guard = head == probe->site && next == probe->end ? probe->guard : 0;
	return marks_work_add_count(work, probe, 1, err);
}

/* The probes of a plan that has some; with the first ones the session is made. */
static int load_probes(struct work *work, const struct mark_plan *plan, struct uspl_err *err)
{
	struct mark_region *region;
	int rc;

	if (!work->shared.tables) {
		rc = make_session(work, err);
		if (rc)
			return rc;
	}
	/* The session gets a shadow, with the first return that it waits for. */
	if (work->request->returns && !work->shared.shadow) {
		work->shared.shadow = free_shadow(work->proc, &work->marks);
		if (!work->shared.shadow)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "at most %d sessions of a process can wait for returns "
					 "at once",
					 USPL_MARK_SHADOWS - 1);
		rc = trace_buffers_note_shadow(work->proc, &work->shared, err);
		if (rc)
			return rc;
	}
	region = vec_push(&work->marks.regions);
	if (!region)
		return uspl_fail_nomem(err);
	rc = mark_load(work->proc, plan, work->next_id, &work->shared, region, err);
	if (rc) {
		work->marks.regions.n--;
		return rc;
	}
	work->next_id += (uint32_t)plan->sites.n;
	rc = mark_tell_unwinder(work->proc, work->modules, region, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < region->probes.n; i++) {
		rc = lead_in(work, &region->probes.items[i], err);
		if (rc)
			return rc;
	}
	return 0;
}

static void release_plan(struct mark_plan *plan)
{
	vec_release(&plan->sites);
	vec_release(&plan->switches);
}

DEFINE_AUTO_RELEASE(plan, struct mark_plan, release_plan)
#define auto_plan __attribute__((cleanup(cleanup_plan_)))

static int load_module(struct work *work, const struct module *module, struct uspl_err *err)
{
	auto_markers struct markers markers = { 0 };
	auto_plan struct mark_plan plan = { .request = work->request, .module = module };
	int rc = work->request->functions ? find_functions(work, module, &markers, err)
					  : marks_find(work->proc, module, &markers, err);

	if (rc)
		return rc;
	rc = choose_sites(work, &markers, &plan, err);
	if (rc)
		return rc;
	rc = choose_switches(work, &markers, &plan, err);
	if (rc)
		return rc;
	if (plan.sites.n) {
		rc = load_probes(work, &plan, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < plan.switches.n; i++) {
		/* The program's way leads to the arguments. */
		const struct marker_switch *item = plan.switches.items[i];
		uint8_t none[USPL_TRACE_SITE_BYTES];
		taddr addr = marks_innermost(work->proc, &work->marks, item->site, none);
		struct mark_change *change;

		if (mark_target(work->proc, addr) == item->on)
			continue;
		change = marks_work_add_change(work, addr, none);
		if (!change)
			return uspl_fail_nomem(err);
		marks_work_jump(addr, item->on, change->to);
	}
	return 0;
}

/* Unloads what was loaded and nothing leads to. */
static int unload(const struct work *work, struct uspl_err *err)
{
	int rc;

	for (size_t i = work->n_old; i < work->marks.regions.n; i++) {
		rc = mark_unload(work->proc, work->modules, &work->marks.regions.items[i], err);
		if (rc)
			return rc;
	}
	return work->fresh ? trace_buffers_unmap(work->proc, &work->shared, err) : 0;
}

static int fail_none(const struct work *work, struct uspl_err *err)
{
	const char *glob = work->request->glob ? work->request->glob : "*";

	if (work->result.impossible)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "no probe can be put to marker %s",
				 work->result.why);
	uspl_fail(err, USPL_E_NO_MODULE, "there is no %s '%s' in pid %d",
		  work->request->functions ? "function" : "marker", glob, work->proc->pid);
	if (!work->request->functions)
		uspl_hint(err, "'uspl-trace mark %d list' shows them", work->proc->pid);
	return -USPL_E_NO_MODULE;
}

int marks_on(struct proc *proc, const module_vec *modules, const struct marks_request *request,
	     struct marks_switched *ret, struct uspl_err *err)
{
	auto_work struct work work = { .proc = proc, .modules = modules, .request = request };
	struct uspl_err why = { 0 };
	const struct module *module;
	int rc = marks_work_open(&work, err);

	if (rc)
		return rc;
	if (request->returns) {
		rc = runtimes_refuse(proc, modules, err);
		if (rc) {
			uspl_hint(err,
				  "a probe at the function's entry leaves return addresses alone");
			return rc;
		}
	}
	vec_for_each (modules, module) {
		/* Functions are looked for in the program itself, unless modules are named. */
		if (module->is_vdso || (request->module ? fnmatch(request->module, module->name, 0)
							: request->functions && !module->is_main))
			continue;
		rc = load_module(&work, module, err);
		if (rc)
			goto unload;
	}
	if (work.marks.regions.n == work.n_old && !work.result.already) {
		rc = fail_none(&work, err);
		goto unload;
	}
	if (work.changes.n) {
		rc = mark_switch(proc, modules, &work.changes, &work.counts, &work.result, err);
		if (rc)
			goto unload;
	}
	for (size_t i = work.n_old; i < work.marks.regions.n; i++)
		work.result.probes += work.marks.regions.items[i].probes.n;
	*ret = work.result;
	return 0;

unload:
	if (rc != -USPL_E_STRANDED && unload(&work, &why))
		log_info("mark", "what was loaded stays mapped in pid %d: %s", proc->pid, why.msg);
	return rc;
}
