// SPDX-License-Identifier: GPL-3.0-or-later
// session.c - tracing in a process: starting, finding, stopping

#include "trace/engine/session.h"
#include "trace/engine/session_parts.h"

#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "inject/inject.h"
#include "proc/memcg.h"
#include "record/region_status.h"
#include "safety/frames.h"
#include "text/give_back.h"
#include "trace/engine/patch_module.h"
#include "trace/engine/shared_map.h"
#include "trace/engine/choose.h"
#include "trace/engine/clocks.h"
#include "trace/engine/listen_config.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/trace_module.h"
#include "trace/engine/nop_mcount.h"
#include "trace/engine/runtimes.h"
#include "trace/engine/shadow_maps.h"
#include "trace/engine/sums.h"
#include "trace/engine/trace_buffers.h"
#include "trace/engine/switch.h"
#include "trace/engine/thread_offsets.h"

/* How long a start waits for threads in calls that were traced before, and the pause. */
#define INSIDE_WAIT_NS 5000000000ll
#define INSIDE_PAUSE_NS 20000000

void session_starting_release(struct starting *starting)
{
	trace_session_release(&starting->session);
	regions_release(&starting->updates);
}

/* Loads one module's part if it has functions that are wanted. */
static int load_module(struct starting *starting, const struct module *module, struct uspl_err *err)
{
	const struct trace_request *request = starting->request;
	struct trace_session *session = &starting->session;
	struct uspl_trace_region *shared = &starting->shared;
	struct proc *proc = starting->proc;
	auto_vec candidate_vec candidates = { 0 };
	struct trace_region *region;
	int rc = choose_candidates(proc, module, &starting->updates, request, &candidates, err);

	if (rc)
		return rc;
	if (candidates.n && starting->before + session->regions.n == USPL_TRACE_ARENAS)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "more than %d modules can't be traced at once", USPL_TRACE_ARENAS);
	if (candidates.n && !shared->tables) {
		rc = trace_buffers_map(proc, request, shared, err);
		if (rc)
			return rc;
	}
	if (candidates.n) {
		region = vec_push(&session->regions);
		rc = region ? trace_module_load(proc, module, &candidates, request, shared, region,
						err)
			    : uspl_fail_nomem(err);
		if (rc && region)
			session->regions.n--;
		if (!rc)
			shared->first_id += (uint32_t)candidates.n;
	}
	return rc;
}

/* What is known only when all parts are loaded. */
static int complete_control(struct proc *proc, const struct trace_request *request,
			    const struct trace_session *session, struct uspl_trace_control *control,
			    struct uspl_err *err)
{
	const struct listen_plan *plan = request->listen;
	const struct trace_region *region;
	size_t n = 0;

	control->threshold = request->threshold_s > 0 ? clocks_ticks(request->threshold_s) : 0;
	/* Where no calls are recorded, or not yet: a threshold that no call reaches. */
	if (plan && !request->entries && (plan->no_calls || plan->halted))
		control->threshold = UINT64_MAX;
	control->depth = request->depth;
	control->config = session->regions.items[0].head.config;
	if (plan) {
		int rc = sums_control(proc, plan, session, control, err);

		if (rc)
			return rc;
	}
	vec_for_each (&session->regions, region)
		control->arenas[n++] =
			(struct uspl_trace_arena){ region->head.thunks, region->head.thunks_len };
	return thread_offsets_find(proc, &request->tids, control, err);
}

/* All copies of the runtime have the same control page. */
static int finish_controls(struct proc *proc, const struct trace_request *request,
			   const struct trace_session *session, struct uspl_err *err)
{
	const struct trace_region *region = session->regions.items;
	const struct uspl_trace_counters counters = {
		.enabled = !(request->entries && request->listen && request->listen->halted)
	};
	struct uspl_trace_control control;
	int rc = proc_read(proc, region->head.code + USPL_TRACE_CONTROL, &control, sizeof(control),
			   err);

	if (rc)
		return rc;
	rc = complete_control(proc, request, session, &control, err);
	if (rc)
		return rc;
	vec_for_each (&session->regions, region) {
		rc = proc_write(proc, region->head.code + USPL_TRACE_CONTROL, &control,
				sizeof(control), err);
		if (rc)
			return rc;
	}
	region = session->regions.items;
	return proc_write(proc, region->head.counters, &counters, sizeof(counters), err);
}

static struct frames frames_of(const struct trace_region *region)
{
	return (struct frames){ .section = region->head.eh_frame,
				.noted = region->head.self +
					 offsetof(struct uspl_trace_region, frames) };
}

int session_tell_unwinder(struct proc *proc, const module_vec *modules,
			  const struct trace_session *session, struct uspl_err *err)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region) {
		const struct frames frames = frames_of(region);
		bool told;
		int rc;

		if (region->head.entries || region->head.frames)
			continue;
		rc = frames_register(proc, modules, &frames, FRAMES_IF_UNWOUND, &told, err);
		if (rc == -USPL_E_UNSUPPORTED)
			uspl_hint(err, "'--tracer=function' leaves return addresses alone");
		if (rc)
			return rc;
	}
	return 0;
}

int session_unload_module(struct proc *proc, const module_vec *modules,
			  const struct trace_region *region, struct uspl_err *err)
{
	const struct frames frames = frames_of(region);
	/*
	 * The code that tells the unwinder looks at what is traced: a part that is gone must not be
	 * there.
	 */
	int rc = proc_refresh_maps(proc, err);

	if (rc)
		return rc;
	rc = frames_forget(proc, modules, &frames, err);
	if (rc)
		return rc;
	return inject_unmap(proc, region->head.map, region->head.map_len, err);
}

/*
 * The parts go first, each with its record: so a later stop finds those that had to stay, and when
 * no record is left shared_maps_sweep finds the rest.
 */
static int unload(struct proc *proc, const module_vec *modules, const struct trace_session *session,
		  const struct uspl_trace_region *shared, struct uspl_err *err)
{
	const struct trace_region *region;
	int rc = 0;

	vec_for_each (&session->regions, region) {
		rc = session_unload_module(proc, modules, region, err);
		if (rc)
			return rc;
	}
	if (session->regions.n) {
		rc = listen_config_close(proc, &session->regions.items[0].head, err);
		if (rc)
			return rc;
	}
	if (shared->tables)
		return trace_buffers_unmap(proc, shared, err);
	return 0;
}

int session_look_first(struct starting *starting, struct uspl_err *err)
{
	int rc = regions_read(starting->proc, &starting->updates, err);

	if (rc)
		return rc;
	region_status_find_gone(starting->proc, starting->modules, &starting->updates);
	return starting->request->entries ? 0
					  : runtimes_refuse(starting->proc, starting->modules, err);
}

bool session_is_copy(const struct proc *proc, const struct trace_session *session)
{
	return session->regions.n &&
	       shared_map_is_copy(proc, session->regions.items[0].head.tables);
}

/* Takes away a session that has ended, or that is a parent's. *ret: what is left. */
static int take_away(struct proc *proc, const module_vec *modules, struct trace_switch *ret,
		     struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	int rc = trace_session_read(proc, &session, err);

	*ret = (struct trace_switch){ 0 };
	if (rc || !session.regions.n)
		return rc;
	if (trace_session_is_on(&session) && !session_is_copy(proc, &session)) {
		uspl_fail(err, USPL_E_CONFLICT, "pid %d is traced already", proc->pid);
		uspl_hint(err, "'uspl-trace stop %d' ends it", proc->pid);
		return -USPL_E_CONFLICT;
	}
	rc = session_stop(proc, modules, &session, &(struct session_end){ 0 }, ret, err);
	if (rc)
		return rc;
	return proc_refresh_maps(proc, err);
}

/* Threads that are in calls which were traced are given time to return from them. */
static int make_way(struct proc *proc, const module_vec *modules, struct uspl_err *err)
{
	const struct timespec pause = { 0, INSIDE_PAUSE_NS };
	int64_t deadline = proc_deadline(proc, INSIDE_WAIT_NS);
	struct trace_switch left;
	bool told = false;

	for (;;) {
		int rc = take_away(proc, modules, &left, err);

		if (rc || !left.inside)
			return rc;
		if (left.inactive || clock_now_ns() >= deadline)
			break;
		if (!told)
			log_info("trace", "%zu threads are still in calls that were traced before",
				 left.inside);
		told = true;
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
	uspl_fail(err, USPL_E_CONFLICT,
		  "%s of pid %d may still be in calls that were traced before",
		  left.inactive ? "a stack" : "a thread", proc->pid);
	uspl_hint(err, "'uspl-trace stop %d' says more", proc->pid);
	return -USPL_E_CONFLICT;
}

int session_try_module(struct starting *starting, const struct module *module,
		       struct patch_result *mcount, struct uspl_err *err)
{
	int rc = starting->request->keep_mcount ? 0
						: nop_mcount(starting->proc, module, mcount, err);

	if (rc)
		return rc;
	return load_module(starting, module, err);
}

/* A library that comes and goes is left out if it can't be caught. */
static int load_modules(struct starting *starting, struct patch_result *ret_mcount,
			struct uspl_err *err)
{
	const struct trace_choice *choice = &starting->request->choice;
	const struct module *module;

	vec_for_each (starting->modules, module) {
		struct uspl_err why = { 0 };
		int rc;

		if (module->is_vdso || !choice->module(choice->ctx, module))
			continue;
		rc = session_try_module(starting, module, ret_mcount, &why);
		if (rc && module_explains(starting->proc, module, rc)) {
			log_info("trace", "'%s' is left out, since it was unloaded: %s",
				 module->path, why.msg);
			continue;
		}
		if (rc && err)
			*err = why;
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * After a failure some sites may be on, and threads inside. Then the memory has to stay, for a
 * later stop to take.
 */
static int take_back(struct starting *starting, int rc)
{
	const struct switch_way way = { .drain = { .scan_bytes = DRAIN_SCAN_BYTES } };
	struct trace_switch off = { 0 };

	if (switch_sites(starting->proc, starting->modules, &starting->session, &way, &off, NULL) !=
		    0 ||
	    off.inside)
		starting->stays = true;
	return rc;
}

/*
 * Code that is changed becomes the process's own, a page for each that has a site; what has been
 * loaded is there already.
 */
static int require_memory(const struct starting *starting, struct uspl_err *err)
{
	const struct trace_request *request = starting->request;
	uint64_t need = trace_buffers_may_fill(starting->proc, request);
	const struct trace_region *region;
	const struct uspl_trace_site *site;

	if (request->listen)
		need += sums_may_fill(starting->proc, request->listen, &starting->session);
	vec_for_each (&starting->session.regions, region) {
		taddr page = 0;

		vec_for_each (&region->sites, site) {
			need += site->entry / PAGE != page ? PAGE : 0;
			page = site->entry / PAGE;
		}
	}
	return memcg_require(starting->proc, need, err);
}

/* What is loaded becomes a session that is on. */
static int set_going(struct starting *starting, struct trace_switch *ret, struct uspl_err *err)
{
	const struct switch_way way = { .on = true };
	struct trace_session *session = &starting->session;
	const struct listen_plan *plan = starting->request->listen;
	int rc = require_memory(starting, err);

	if (rc)
		goto take_back;
	if (plan) {
		rc = listen_config_open(starting->proc, starting->request, session, err);
		if (rc)
			goto take_back;
	}
	rc = finish_controls(starting->proc, starting->request, session, err);
	if (rc)
		goto take_back;
	rc = session_tell_unwinder(starting->proc, starting->modules, session, err);
	if (rc)
		goto take_back;
	rc = switch_sites(starting->proc, starting->modules, session, &way, ret, err);
	if (rc)
		goto take_back;
	return 0;

take_back:
	return take_back(starting, rc);
}

/* What is loaded may be more than can be traced, or nothing. */
static int check_loaded(const struct starting *starting, struct uspl_err *err)
{
	const struct trace_request *request = starting->request;
	int rc;

	if (request->entries && starting->shared.first_id > USPL_TRACE_ENTRY_IDS_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "more than %d functions at once",
				 USPL_TRACE_ENTRY_IDS_MAX - 1);
	if (request->listen && request->listen->cell_len == sizeof(struct uspl_sums_cell) &&
	    starting->shared.first_id > USPL_SUMS_IDS_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "calls of more than %d functions can't be added up at once",
				 USPL_SUMS_IDS_MAX);
	if (request->listen && request->listen->check) {
		rc = request->listen->check(request->listen->ctx, err);
		if (rc)
			return rc;
	}
	if (!starting->session.regions.n) {
		rc = uspl_fail(err, USPL_E_NO_MODULE, "no function of pid %d is to be traced",
			       starting->proc->pid);
		uspl_hint(err,
			  "'uspl-trace list %d' says why a function can't be; libraries take "
			  "'--module'",
			  starting->proc->pid);
		return rc;
	}
	return 0;
}

int session_start(struct proc *proc, const module_vec *modules, const struct trace_request *request,
		  struct trace_switch *ret, struct uspl_err *err)
{
	/*
	 * The first choice of a shadow lies far below where the kernel maps anything of its own
	 * accord, and stacks at the top of the address space have their shadows there; the last but
	 * one is near the lower end, and the last one lies among the program's libraries. No
	 * session of markers has one of these (include/uspl/mark_abi.h).
	 */
	static const uint64_t choices[] = { 1ull << 45, 1ull << 46, 3ull << 45,
					    1ull << 41, 7ull << 44, 0 };
	auto_starting struct starting starting = { .proc = proc,
						   .modules = modules,
						   .request = request };
	struct patch_result mcount = { 0 };
	struct uspl_err why = { 0 };
	struct trace_clocks clocks;
	int rc = make_way(proc, modules, err);

	if (rc)
		return rc;
	rc = session_look_first(&starting, err);
	if (rc)
		return rc;
	clocks_read(&clocks);
	starting.shared = (struct uspl_trace_region){ .first_id = 1,
						      .start_ticks = clocks.ticks,
						      .start_ns = clocks.ns,
						      .session = (uint64_t)clocks.ns };
	starting.shared.shadow = shadow_maps_choose(proc, choices, ARRAY_SIZE(choices));
	rc = load_modules(&starting, &mcount, err);
	if (rc)
		goto unload;
	rc = check_loaded(&starting, err);
	if (rc)
		goto unload;
	rc = set_going(&starting, ret, err);
	if (rc)
		goto unload;
	ret->mcount = mcount.sites;
	if (mcount.stop_us > ret->stop_us)
		ret->stop_us = mcount.stop_us;
	return 0;

unload:
	if (rc != -USPL_E_STRANDED && !starting.stays &&
	    unload(proc, modules, &starting.session, &starting.shared, &why))
		log_info("trace", "what was loaded stays mapped in pid %d: %s", proc->pid, why.msg);
	return rc;
}

int session_stop(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 const struct session_end *end, struct trace_switch *ret, struct uspl_err *err)
{
	const struct switch_way way = { .drain = { DRAIN_SCAN_BYTES, end->force } };
	const struct trace_region *region;
	int rc;

	*ret = (struct trace_switch){ 0 };
	if (!session->regions.n)
		return 0;
	rc = switch_sites(proc, modules, session, &way, ret, err);
	if (rc || ret->inside)
		return rc;
	if (end->last) {
		rc = end->last(end->ctx, err);
		if (rc)
			return rc;
	}
	rc = unload(proc, modules, session, &session->regions.items[0].head, err);
	if (rc) {
		uspl_context(err, "nothing is traced any more, but memory stays mapped");
		uspl_hint(err, "'uspl-trace stop %d' once more unmaps it", proc->pid);
		return rc;
	}
	/* Pages that hold their old bytes again go back to the files. What fails stays as it is. */
	if (proc_refresh_maps(proc, NULL))
		return 0;
	vec_for_each (&session->regions, region) {
		const struct module *module = module_at(modules, region->head.module);

		if (module)
			give_back_code(proc, module);
	}
	return 0;
}
