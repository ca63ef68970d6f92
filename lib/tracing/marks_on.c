// SPDX-License-Identifier: GPL-3.0-or-later
// marks_on.c - markers switched on and off

#include <fnmatch.h>
#include <string.h>

#include "arch/arch.h"
#include "live/overlay.h"
#include "tracing/clocks.h"
#include "tracing/marks_internal.h"

/* A command while it works. */
struct work {
	struct proc *proc;
	const module_vec *modules;
	const struct marks_request *request;
	struct marks marks;
	struct uspl_trace_region shared; /* of the session */
	uint32_t next_id;
	bool fresh;   /* the session's memory was made by this command */
	size_t n_old; /* regions that were there before it */
	mark_changes changes;
	mark_counts counts;
	struct marks_switched result;
};

static void work_release(struct work *work)
{
	marks_release(&work->marks);
	vec_release(&work->changes);
	vec_release(&work->counts);
}

static bool is_wanted(const struct marks_request *request, const char *name)
{
	return !request->glob || !fnmatch(request->glob, name, 0);
}

/* Functions are looked for in the program itself, unless modules are named. */
static bool is_module_wanted(const struct marks_request *request, const struct module *module)
{
	return request->module ? !fnmatch(request->module, module->name, 0)
			       : !request->functions || module->is_main;
}

static bool is_ours(const struct work *work, const struct mark_region *region)
{
	return !strcmp(region->head.session, work->request->session);
}

/* The module's markers, or the functions of that name. */
static int find(const struct proc *proc, const struct module *module, const struct marks *marks,
		const char *functions, struct markers *ret, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	region_vec updates = { 0 };
	struct image *image = NULL;
	int rc = module_image(proc, module, &image, err);

	if (!rc)
		rc = regions_read(proc, &updates, err);
	if (!rc)
		rc = overlay_add(image, proc, &updates, module->start, err);
	if (!rc)
		rc = session_read(proc, &session, err);
	if (!rc) {
		session_lay_under(&session, image);
		marks_lay_under(marks, image);
		rc = functions ? markers_add_functions(image, functions, ret, err)
			       : markers_find(proc, module, image, ret, err);
	}
	regions_release(&updates);
	image_free(image);
	return rc;
}

int marks_find(const struct proc *proc, const struct module *module, const struct marks *marks,
	       struct markers *ret, struct uspl_err *err)
{
	return find(proc, module, marks, NULL, ret, err);
}

/* What the session has so far: where its rings are, which ids are taken. */
static void find_session(struct work *work)
{
	const struct mark_region *region;

	work->next_id = 1;
	vec_for_each (&work->marks.regions, region)
		if (is_ours(work, region)) {
			work->shared = region->head.shared;
			if (region->head.first_id + region->head.n_probes > work->next_id)
				work->next_id = region->head.first_id + region->head.n_probes;
		}
}

static int make_session(struct work *work, struct uspl_err *err)
{
	const struct trace_request request = { .ring_bytes = work->request->ring_bytes };
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

/* The session's probe at that site, if it is on. */
static bool has_probe(const struct work *work, taddr site)
{
	const struct mark_region *region;

	vec_for_each (&work->marks.regions, region)
		for (size_t i = 0; is_ours(work, region) && i < region->on.n; i++)
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

		if (!is_wanted(work->request, marker->name))
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

static struct mark_change *add_change(struct work *work, taddr addr, const uint8_t *from)
{
	struct mark_change *change = vec_push(&work->changes);

	if (!change)
		return NULL;
	change->addr = addr;
	memcpy(change->from, from, sizeof(change->from));
	memcpy(change->to, from, sizeof(change->to));
	return change;
}

static void jump(taddr from, taddr to, uint8_t *code)
{
	/* All of it lies within reach of the module: checked when the code was made. */
	(void)arch_native()->jump_encode(from, to, code);
}

static int add_count(struct work *work, const struct uspl_probe *probe, int16_t add,
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
	jump(probe->link, next, link);
	if (!rc)
		rc = proc_write(work->proc, probe->link, link, sizeof(link), err);
	change = rc ? NULL : add_change(work, probe->site, now);
	if (!rc && !change)
		rc = uspl_fail_nomem(err);
	if (rc)
		return rc;
	jump(probe->site, probe->thunk, change->to);
	change->guard = next == probe->end ? probe->guard : 0;
	return add_count(work, probe, 1, err);
}

/* The program's way leads to the arguments. */
static int lead_on(struct work *work, taddr site, taddr on, struct uspl_err *err)
{
	uint8_t nop[USPL_TRACE_SITE_BYTES];
	struct mark_change *change;

	if (mark_target(work->proc, site) == on)
		return 0;
	(void)arch_native()->nop_encode(nop, sizeof(nop));
	change = add_change(work, site, nop);
	if (!change)
		return uspl_fail_nomem(err);
	jump(site, on, change->to);
	return 0;
}

static int load_module(struct work *work, const struct module *module, struct uspl_err *err)
{
	auto_markers struct markers markers = { 0 };
	struct mark_plan plan = { .request = work->request, .module = module };
	struct mark_region *region = NULL;
	int rc = find(work->proc, module, &work->marks,
		      work->request->functions ? work->request->glob : NULL, &markers, err);

	if (!rc)
		rc = choose_sites(work, &markers, &plan, err);
	if (!rc)
		rc = choose_switches(work, &markers, &plan, err);
	if (!rc && plan.sites.n && !work->shared.tables)
		rc = make_session(work, err);
	if (!rc && plan.sites.n) {
		region = vec_push(&work->marks.regions);
		rc = region ? mark_load(work->proc, &plan, work->next_id, &work->shared, region,
					err)
			    : uspl_fail_nomem(err);
		if (rc && region)
			work->marks.regions.n--;
		work->next_id += (uint32_t)plan.sites.n;
	}
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
		mark_unload(work->proc, &work->marks.regions.items[i]);
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
	find_session(&work);
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

/* The jump that leads to a probe: its site's, or the link of the one before. 0: none does. */
static taddr find_before(const struct work *work, const struct uspl_probe *probe)
{
	taddr at = probe->site;

	for (size_t i = 0; i < 1024; i++) {
		const struct mark_region *region;
		taddr to = mark_target(work->proc, at);
		const struct uspl_probe *other = to ? marks_at(&work->marks, to, &region) : NULL;

		if (other == probe || !other)
			return other ? at : 0;
		at = other->link;
	}
	return 0;
}

/* The end of the probe whose link is at `link`. */
static taddr end_of(const struct work *work, taddr link)
{
	const struct mark_region *region;
	const struct uspl_probe *probe;

	vec_for_each (&work->marks.regions, region)
		vec_for_each (&region->probes, probe)
			if (probe->link == link)
				return probe->end;
	return 0;
}

/* Takes a probe out of its chain. */
static int lead_out(struct work *work, const struct uspl_probe *probe, struct uspl_err *err)
{
	taddr before = find_before(work, probe), next = mark_target(work->proc, probe->link);
	const struct mark_region *region;
	const struct uspl_probe *other = next ? marks_at(&work->marks, next, &region) : NULL;
	uint8_t now[USPL_TRACE_SITE_BYTES];
	struct mark_change *change;

	if (!before || (!other && next != probe->end))
		return 0;
	jump(before, before == probe->site ? probe->thunk : probe->inner, now);
	change = add_change(work, before, now);
	if (!change)
		return uspl_fail_nomem(err);
	if (other)
		jump(before, before == probe->site ? other->thunk : other->inner, change->to);
	else if (before == probe->site)
		memcpy(change->to, probe->old_bytes, sizeof(change->to));
	else
		jump(before, end_of(work, before), change->to);
	return add_count(work, probe, -1, err);
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

static int lead_back(struct work *work, const struct uspl_mark_switch *item, struct uspl_err *err)
{
	uint8_t now[USPL_TRACE_SITE_BYTES];
	struct mark_change *change;

	if (mark_target(work->proc, item->site) != item->on)
		return 0;
	for (size_t i = 0; i < work->changes.n; i++)
		if (work->changes.items[i].addr == item->site)
			return 0;
	jump(item->site, item->on, now);
	change = add_change(work, item->site, now);
	if (!change)
		return uspl_fail_nomem(err);
	(void)arch_native()->nop_encode(change->to, sizeof(change->to));
	return 0;
}

/* The session's probes that are wanted off; *ret_left counts those that stay on. */
static int lead_all_out(struct work *work, size_t *ret_left, struct uspl_err *err)
{
	struct mark_region *region;
	int rc = 0;

	*ret_left = 0;
	vec_for_each (&work->marks.regions, region)
		for (size_t i = 0; !rc && is_ours(work, region) && i < region->probes.n; i++) {
			const struct uspl_probe *probe = &region->probes.items[i];

			if (!region->on.items[i])
				continue;
			if (!is_wanted(work->request, mark_text(region, probe->name))) {
				++*ret_left;
				continue;
			}
			rc = lead_out(work, probe, err);
			region->on.items[i] = false;
			work->result.probes++;
		}
	return rc;
}

/* True if the session has switches in the module. */
static bool has_switches(const struct work *work, const struct module *module)
{
	const struct mark_region *region;

	vec_for_each (&work->marks.regions, region)
		if (is_ours(work, region) && region->switches.n &&
		    region->head.module == module->start)
			return true;
	return false;
}

/*
 * A switch goes back when no probe needs it. Its region doesn't say of which marker it is: where it leads lies in the same function as that
 * marker's site, but the names are what ties them together, so they are looked up.
 */
static int lead_all_back(struct work *work, struct uspl_err *err)
{
	const struct module *module;
	int rc = 0;

	vec_for_each (work->modules, module) {
		auto_markers struct markers markers = { 0 };
		const struct marker_switch *item;

		if (rc || !has_switches(work, module))
			continue;
		rc = marks_find(work->proc, module, &work->marks, &markers, err);
		vec_for_each (&markers.switches, item) {
			struct uspl_mark_switch found = { item->site, item->on };

			if (!rc && !is_used(work, item->name))
				rc = lead_back(work, &found, err);
		}
	}
	return rc;
}

/* The last one takes the session's memory with it. */
static void unload_session(struct work *work)
{
	const struct mark_region *region;

	vec_for_each (&work->marks.regions, region)
		if (is_ours(work, region))
			mark_unload(work->proc, region);
	share_unmap(work->proc, &work->shared);
}

int marks_off(struct proc *proc, const module_vec *modules, const struct marks_request *request,
	      struct marks_switched *ret, struct uspl_err *err)
{
	struct work work = { .proc = proc, .modules = modules, .request = request };
	size_t left = 0;
	int rc = marks_read(proc, &work.marks, err);

	find_session(&work);
	if (!rc && !work.shared.tables)
		rc = uspl_fail(err, USPL_E_NOT_APPLIED, "no marker of pid %d is on", proc->pid);
	if (!rc)
		rc = lead_all_out(&work, &left, err);
	if (!rc && left && !work.result.probes)
		rc = uspl_fail(err, USPL_E_NOT_APPLIED, "no marker '%s' of pid %d is on",
			       request->glob, proc->pid);
	if (!rc)
		rc = lead_all_back(&work, err);
	if (!rc && work.changes.n)
		rc = mark_switch(proc, modules, &work.changes, &work.counts, &work.result, err);
	if (!rc && !left)
		rc = mark_drain(proc, modules, &work.marks, request->session, &work.result, err);
	if (!rc && !left && !work.result.inside)
		unload_session(&work);
	if (!rc)
		*ret = work.result;
	work_release(&work);
	return rc;
}
