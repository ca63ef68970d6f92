// SPDX-License-Identifier: GPL-3.0-or-later
// session.c - tracing in a process: starting, finding, stopping

#include "tracing/session.h"

#include "live/frames.h"
#include "tracing/clocks.h"
#include "tracing/internal.h"
#include "tracing/marks.h"

int session_refuse(const struct proc *proc, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	int rc = session_read(proc, &session, err);

	if (rc || !session_is_on(&session))
		return rc;
	uspl_fail(err, USPL_E_CONFLICT, "pid %d is traced", proc->pid);
	uspl_hint(err, "'uspl-trace stop %d' ends it; start it again afterwards", proc->pid);
	return -USPL_E_CONFLICT;
}

/* The spots of a module that are wanted and possible. */
static int choose(const struct proc *proc, const struct module *module,
		  const struct trace_request *request, spot_vec *ret, struct uspl_err *err)
{
	auto_marks struct marks marks = { 0 };
	struct image *image = NULL;
	spot_vec all = { 0 };
	const struct spot *spot;
	int rc = module_image(proc, module, &image, err);

	if (!rc)
		rc = marks_read(proc, &marks, err);
	if (!rc)
		rc = spots_find(image, &all, err);
	if (!rc)
		rc = spots_spare(proc, &all, err);
	vec_for_each (&all, spot) {
		struct spot *place;

		if (rc || spot->kind == SPOT_NONE || (spot->entry_only && !request->entries) ||
		    marks_cover(&marks, spot->entry, spot->len) ||
		    !request->choice.function(request->choice.ctx, spot->name, spot->entry))
			continue;
		place = vec_push(ret);
		if (!place)
			rc = uspl_fail_nomem(err);
		else
			*place = *spot;
	}
	vec_release(&all);
	image_free(image);
	return rc;
}

/* Loads one module's part if it has functions that are wanted. */
static int load_module(struct proc *proc, const struct module *module,
		       const struct trace_request *request, struct uspl_trace_region *shared,
		       struct trace_session *session, struct uspl_err *err)
{
	spot_vec spots = { 0 };
	struct trace_region *region;
	int rc = choose(proc, module, request, &spots, err);

	if (!rc && spots.n && session->regions.n == USPL_TRACE_ARENAS)
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "more than %d modules can't be traced at once", USPL_TRACE_ARENAS);
	if (!rc && spots.n && !shared->tables)
		rc = share_map(proc, request, shared, err);
	if (!rc && spots.n) {
		region = vec_push(&session->regions);
		rc = region ? part_load(proc, module, &spots, request, shared, region, err)
			    : uspl_fail_nomem(err);
		if (rc && region)
			session->regions.n--;
		shared->first_id += (uint32_t)spots.n;
	}
	vec_release(&spots);
	return rc;
}

/* What is known only when all parts are loaded. */
static int complete_control(struct proc *proc, const struct trace_request *request,
			    const struct trace_session *session, struct uspl_trace_control *control,
			    struct uspl_err *err)
{
	const struct trace_region *region;
	size_t n = 0;

	control->threshold = request->threshold_s > 0 ? clocks_ticks(request->threshold_s) : 0;
	control->depth = request->depth;
	vec_for_each (&session->regions, region)
		control->arenas[n++] =
			(struct uspl_trace_arena){ region->head.thunks, region->head.thunks_len };
	return places_find(proc, &request->tids, control, err);
}

/* All copies of the runtime have the same control page. */
static int finish_controls(struct proc *proc, const struct trace_request *request,
			   const struct trace_session *session, struct uspl_err *err)
{
	const struct trace_region *region = session->regions.items;
	const struct uspl_trace_counters counters = { .enabled = 1 };
	struct uspl_trace_control control;
	int rc = proc_read(proc, region->head.code + USPL_TRACE_CONTROL, &control, sizeof(control),
			   err);

	if (!rc)
		rc = complete_control(proc, request, session, &control, err);
	vec_for_each (&session->regions, region)
		if (!rc)
			rc = proc_write(proc, region->head.code + USPL_TRACE_CONTROL, &control,
					sizeof(control), err);
	region = session->regions.items;
	return rc ? rc : proc_write(proc, region->head.counters, &counters, sizeof(counters), err);
}

/* Tells the program's unwinder of the thunks: what returns through them must be found. */
static int tell_unwinder(struct proc *proc, const module_vec *modules,
			 struct trace_session *session, struct uspl_err *err)
{
	struct trace_region *region;
	int rc = 0;

	vec_for_each (&session->regions, region) {
		uint32_t yes = 1;
		bool told = false;

		if (!rc && !region->head.entries)
			rc = frames_register(proc, modules, region->head.eh_frame, false, &told,
					     err);
		if (!rc && told) {
			region->head.frames = 1;
			rc = proc_write(proc,
					region->head.self +
						offsetof(struct uspl_trace_region, frames),
					&yes, sizeof(yes), err);
		}
	}
	return rc;
}

/* A part whose unwinder can't be told to forget it stays mapped: it would ask for it. */
static void unload(struct proc *proc, const module_vec *modules, struct trace_session *session,
		   const struct uspl_trace_region *shared)
{
	struct trace_region *region;

	vec_for_each (&session->regions, region) {
		if (region->head.frames &&
		    frames_forget(proc, modules, region->head.eh_frame, NULL) != 0)
			continue;
		part_unmap(proc, region);
	}
	if (shared->tables)
		share_unmap(proc, shared);
}

int session_start(struct proc *proc, const module_vec *modules, const struct trace_request *request,
		  struct trace_switch *ret, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	struct uspl_trace_region shared = { .first_id = 1 };
	struct trace_clocks clocks;
	const struct module *module;
	int rc = session_read(proc, &session, err);

	if (!rc && session.regions.n) {
		uspl_fail(err, USPL_E_CONFLICT, "pid %d is traced already", proc->pid);
		uspl_hint(err, "'uspl-trace stop %d' ends it", proc->pid);
		return -USPL_E_CONFLICT;
	}
	clocks_read(&clocks);
	shared.start_ticks = clocks.ticks;
	shared.start_ns = clocks.ns;
	shared.session = (uint64_t)shared.start_ns;
	ret->hooks = 0;
	vec_for_each (modules, module) {
		size_t n = 0;

		if (rc || module->is_vdso || !request->choice.module(request->choice.ctx, module))
			continue;
		if (!request->keep_hooks)
			rc = quieten(proc, module, &n, err);
		ret->hooks += n;
		if (!rc)
			rc = load_module(proc, module, request, &shared, &session, err);
	}
	if (!rc && request->entries && shared.first_id > USPL_TRACE_ENTRY_IDS)
		rc = uspl_fail(err, USPL_E_UNSUPPORTED, "more than %d functions at once",
			       USPL_TRACE_ENTRY_IDS - 1);
	if (!rc && !session.regions.n)
		return uspl_fail(err, USPL_E_NO_MODULE, "no function of pid %d is to be traced",
				 proc->pid);
	if (!rc)
		rc = finish_controls(proc, request, &session, err);
	if (!rc)
		rc = tell_unwinder(proc, modules, &session, err);
	if (!rc)
		rc = switch_sites(proc, modules, &session, true, ret, err);
	if (rc && rc != -USPL_E_STRANDED)
		unload(proc, modules, &session, &shared);
	return rc;
}

int session_stop(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 struct trace_switch *ret, struct uspl_err *err)
{
	int rc = 0;

	*ret = (struct trace_switch){ 0 };
	rc = switch_sites(proc, modules, session, false, ret, err);
	if (!rc && !ret->inside && session->regions.n)
		unload(proc, modules, session, &session->regions.items[0].head);
	return rc;
}
