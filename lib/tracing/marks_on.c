// SPDX-License-Identifier: GPL-3.0-or-later
// marks_on.c - markers switched on

#include <fnmatch.h>
#include <string.h>

#include "arch/arch.h"
#include "live/overlay.h"
#include "tracing/clocks.h"
#include "tracing/marks_work.h"

/* Functions are looked for in the program itself, unless modules are named. */
static bool is_module_wanted(const struct marks_request *request, const struct module *module)
{
	return request->module ? !fnmatch(request->module, module->name, 0)
			       : !request->functions || module->is_main;
}

/* The module's markers, or, if they are requested, functions. */
static int find(const struct proc *proc, const struct module *module,
		const struct marks_request *request, struct markers *ret, struct uspl_err *err)
{
	struct image *image;
	int rc = overlay_image(proc, module, &image, err);

	if (rc)
		return rc;
	rc = request && request->functions
		     ? markers_add_functions(image, request->glob, request->returns, ret, err)
		     : markers_find(proc, module, image, ret, err);
	image_free(image);
	return rc;
}

int marks_find(const struct proc *proc, const struct module *module, struct markers *ret,
	       struct uspl_err *err)
{
	return find(proc, module, NULL, ret, err);
}

static int make_session(struct work *work, struct uspl_err *err)
{
	const struct trace_request request = { .ring_bytes = work->request->ring_bytes,
					       .entries = true };
	struct uspl_trace_counters counters = { .enabled = 1 };
	struct trace_clocks clocks;
	int rc = share_map(work->proc, &request, &work->shared, err);
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
	return stacks_choose_shadow(proc, choices, n);
}

/* The session gets a shadow, with the first return that it waits for. */
static int prepare_returns(struct work *work, struct uspl_err *err)
{
	if (work->shared.shadow)
		return 0;
	work->shared.shadow = free_shadow(work->proc, &work->marks);
	if (!work->shared.shadow)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "at most %d sessions of a process can wait for returns at once",
				 USPL_MARK_SHADOWS - 1);
	return work->proc->seccomp ? stacks_map_shadows(work->proc, &work->shared, err) : 0;
}

/* The session's probe at that site, if it is on. */
static bool has_probe(const struct work *work, taddr site)
{
	const struct mark_region *region;

	vec_for_each (&work->marks.regions, region)
		for (size_t i = 0; work_is_ours(work, region) && i < region->on.n; i++)
			if (region->probes.items[i].site == site && region->on.items[i])
				return true;
	return false;
}

/*
 * True if the program's own bytes, or a probe's jump, are at the place: a function that begins there may be traced, with a jump of
 * the tracer's.
 */
static bool is_free(const struct work *work, taddr addr, const uint8_t *own, taddr on)
{
	const struct mark_region *region;
	const struct uspl_probe *first;
	uint8_t now[USPL_TRACE_SITE_BYTES];
	taddr to = mark_target(work->proc, addr);

	if (proc_read_some(work->proc, addr, now, sizeof(now)) != sizeof(now))
		return false;
	first = to ? marks_at(&work->marks, to, &region) : NULL;
	return !memcmp(now, own, sizeof(now)) || (to && to == on) ||
	       (!on && first && first->site == addr);
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

		if (!work_is_wanted(work->request, marker->name))
			continue;
		if (marker->why[0]) {
			leave_out(work, marker->name, marker->why);
			continue;
		}
		if (!is_free(work, marker->site, marker->old, 0)) {
			leave_out(work, marker->name,
				  "the code at its place is traced, or changed");
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
	uint8_t nop[USPL_TRACE_SITE_BYTES];

	(void)arch_native()->nop_encode(nop, sizeof(nop));
	vec_for_each (&markers->switches, item) {
		const struct marker_switch **place;

		if (!has_name(plan, item->name))
			continue;
		if (!is_free(work, item->site, nop, item->on)) {
			leave_out(work, item->name,
				  "the function that begins with it is traced, or has a "
				  "probe");
			continue;
		}
		place = vec_push(&plan->switches);
		if (!place)
			return uspl_fail_nomem(err);
		*place = item;
	}
	return 0;
}

/* A new probe becomes the first one of its site's chain. */
static int lead_in(struct work *work, const struct uspl_probe *probe, struct uspl_err *err)
{
	const struct mark_region *region;
	taddr to = mark_target(work->proc, probe->site), next = probe->end;
	const struct uspl_probe *first = to ? marks_at(&work->marks, to, &region) : NULL;
	uint8_t now[USPL_TRACE_SITE_BYTES], link[USPL_TRACE_SITE_BYTES];
	struct mark_change *change;
	int rc = proc_read(work->proc, probe->site, now, sizeof(now), err);

	if (!rc && memcmp(now, probe->old_bytes, sizeof(now)) != 0) {
		if (!first)
			return uspl_fail(err, USPL_E_OVERWRITTEN,
					 "the marker at 0x%llx holds other bytes than expected",
					 (unsigned long long)probe->site);
		next = first->inner;
	}
	work_jump(probe->link, next, link);
	if (!rc)
		rc = proc_write(work->proc, probe->link, link, sizeof(link), err);
	change = rc ? NULL : work_add_change(work, probe->site, now);
	if (!rc && !change)
		rc = uspl_fail_nomem(err);
	if (rc)
		return rc;
	work_jump(probe->site, probe->thunk, change->to);
	change->guard = next == probe->end ? probe->guard : 0;
	return work_add_count(work, probe, 1, err);
}

/* The program's way leads to the arguments. */
static int lead_on(struct work *work, taddr site, taddr on, struct uspl_err *err)
{
	uint8_t nop[USPL_TRACE_SITE_BYTES];
	struct mark_change *change;

	if (mark_target(work->proc, site) == on)
		return 0;
	(void)arch_native()->nop_encode(nop, sizeof(nop));
	change = work_add_change(work, site, nop);
	if (!change)
		return uspl_fail_nomem(err);
	work_jump(site, on, change->to);
	return 0;
}

static int load_module(struct work *work, const struct module *module, struct uspl_err *err)
{
	auto_markers struct markers markers = { 0 };
	struct mark_plan plan = { .request = work->request, .module = module };
	struct mark_region *region = NULL;
	int rc = find(work->proc, module, work->request, &markers, err);

	if (!rc)
		rc = choose_sites(work, &markers, &plan, err);
	if (!rc)
		rc = choose_switches(work, &markers, &plan, err);
	if (!rc && plan.sites.n && !work->shared.tables)
		rc = make_session(work, err);
	if (!rc && plan.sites.n && work->request->returns)
		rc = prepare_returns(work, err);
	if (!rc && plan.sites.n) {
		region = vec_push(&work->marks.regions);
		rc = region ? mark_load(work->proc, &plan, work->next_id, &work->shared, region,
					err)
			    : uspl_fail_nomem(err);
		if (rc && region)
			work->marks.regions.n--;
		work->next_id += (uint32_t)plan.sites.n;
	}
	if (!rc && region)
		rc = mark_tell_unwinder(work->proc, work->modules, region, err);
	for (size_t i = 0; !rc && region && i < region->probes.n; i++)
		rc = lead_in(work, &region->probes.items[i], err);
	for (size_t i = 0; !rc && i < plan.switches.n; i++)
		rc = lead_on(work, plan.switches.items[i]->site, plan.switches.items[i]->on, err);
	vec_release(&plan.sites);
	vec_release(&plan.switches);
	return rc;
}

/* Takes back what was loaded and led to by nobody. */
static void unload_new(struct work *work)
{
	for (size_t i = work->n_old; i < work->marks.regions.n; i++)
		mark_unload(work->proc, work->modules, &work->marks.regions.items[i]);
	if (work->fresh)
		share_unmap(work->proc, &work->shared);
}

static int fail_none(const struct work *work, struct uspl_err *err)
{
	const char *glob = work->request->glob ? work->request->glob : "*";

	if (work->result.impossible)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "no probe can be put to marker %s",
				 work->result.why);
	uspl_fail(err, USPL_E_NO_MODULE, "there is no %s '%s' in pid %d",
		  work->request->functions ? "function" : "marker", glob, work->proc->pid);
	if (work->request->functions)
		return -USPL_E_NO_MODULE;
	uspl_hint(err, "'uspl-trace mark %d list' shows them", work->proc->pid);
	return -USPL_E_NO_MODULE;
}

int marks_on(struct proc *proc, const module_vec *modules, const struct marks_request *request,
	     struct marks_switched *ret, struct uspl_err *err)
{
	struct work work = { .proc = proc, .modules = modules, .request = request };
	const struct module *module;
	int rc = marks_read(proc, &work.marks, err);

	work.n_old = work.marks.regions.n;
	work_find_session(&work);
	vec_for_each (modules, module)
		if (!rc && !module->is_vdso && is_module_wanted(request, module))
			rc = load_module(&work, module, err);
	if (!rc && work.marks.regions.n == work.n_old && !work.result.already)
		rc = fail_none(&work, err);
	if (!rc && work.changes.n)
		rc = mark_switch(proc, modules, &work.changes, &work.counts, &work.result, err);
	if (rc && rc != -USPL_E_STRANDED)
		unload_new(&work);
	for (size_t i = work.n_old; !rc && i < work.marks.regions.n; i++)
		work.result.probes += work.marks.regions.items[i].probes.n;
	if (!rc)
		*ret = work.result;
	work_release(&work);
	return rc;
}
