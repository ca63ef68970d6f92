// SPDX-License-Identifier: GPL-3.0-or-later
// session.c - tracing in a process: starting, finding, stopping

#include "tracing/session.h"

#include <inttypes.h>
#include <string.h>

#include "live/frames.h"
#include "tracing/clocks.h"
#include "tracing/internal.h"

#define INFO_MAX (256u << 20)

static bool is_record(const struct proc *proc, const struct mapping *map,
		      struct uspl_trace_region *ret)
{
	return !map->inode && !map->path[0] && !map->shared && !map->write && !map->exec &&
	       map->read && proc_read_some(proc, map->start, ret, sizeof(*ret)) == sizeof(*ret) &&
	       ret->magic == USPL_TRACE_MAGIC && ret->self == map->start;
}

static int check_head(const struct proc *proc, const struct mapping *map,
		      const struct uspl_trace_region *head, struct uspl_err *err)
{
	uint64_t sites_end = head->sites + (uint64_t)head->n_sites * sizeof(struct uspl_trace_site);

	if (head->version != USPL_TRACE_ABI_VERSION) {
		uspl_fail(err, USPL_E_FORMAT,
			  "pid %d is traced by another version of uspl (%u, this program knows %d)",
			  proc->pid, head->version, USPL_TRACE_ABI_VERSION);
		uspl_hint(err, "use the version of uspl that started it");
		return -USPL_E_FORMAT;
	}
	if (head->info_len > map->end - map->start || head->info_len > INFO_MAX ||
	    sites_end > head->info_len || head->module_name >= head->info_len || !head->first_id ||
	    (head->ring_mask & (head->ring_mask + 1)) || head->ring_mask < USPL_TRACE_RECORD ||
	    head->ring_mask >= head->ring_bytes)
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the record of a trace at 0x%" PRIx64 " of pid %d is damaged",
				 map->start, proc->pid);
	return 0;
}

static int read_region(const struct proc *proc, const struct uspl_trace_region *head,
		       struct trace_session *session, struct uspl_err *err)
{
	struct trace_region *region = vec_push(&session->regions);
	int rc = 0;

	if (!region)
		return uspl_fail_nomem(err);
	region->head = *head;
	for (uint32_t i = 0; i < head->n_sites; i++)
		if (!vec_push(&region->sites))
			return uspl_fail_nomem(err);
	if (head->n_sites)
		rc = proc_read(proc, head->self + head->sites, region->sites.items,
			       head->n_sites * sizeof(*region->sites.items), err);
	return rc ? rc
		  : proc_read_string(proc, head->self + head->module_name, 4096,
				     &region->module_name, err);
}

int session_read(const struct proc *proc, struct trace_session *ret, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	const struct mapping *map;

	vec_for_each (&proc->maps, map) {
		struct uspl_trace_region head;
		int rc;

		if (!is_record(proc, map, &head))
			continue;
		rc = check_head(proc, map, &head, err);
		if (!rc)
			rc = read_region(proc, &head, &session, err);
		if (rc)
			return rc;
	}
	*ret = session;
	session = (struct trace_session){ 0 };
	return 0;
}

void session_release(struct trace_session *session)
{
	struct trace_region *region;

	vec_for_each (&session->regions, region) {
		free(region->module_name);
		vec_release(&region->sites);
	}
	vec_release(&session->regions);
}

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

void session_lay_under(const struct trace_session *session, struct image *image)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site;

	vec_for_each (&session->regions, region)
		vec_for_each (&region->sites, site) {
			/* The image is ours, and so are its bytes. */
			uint8_t *bytes =
				(uint8_t *)image_bytes(image, site->entry, sizeof(site->old_bytes));

			if (bytes)
				memcpy(bytes, site->old_bytes, sizeof(site->old_bytes));
		}
}

bool session_is_on(const struct trace_session *session)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region)
		if (region->head.state == USPL_TRACE_ON ||
		    region->head.state == USPL_TRACE_SWITCHING)
			return true;
	return false;
}

const struct uspl_trace_site *session_site(const struct trace_session *session, uint32_t id,
					   const struct trace_region **ret_region)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region)
		if (id >= region->head.first_id && id - region->head.first_id < region->sites.n) {
			*ret_region = region;
			return &region->sites.items[id - region->head.first_id];
		}
	return NULL;
}

/* The spots of a module that are wanted and possible. */
static int choose(const struct proc *proc, const struct module *module,
		  const struct trace_request *request, spot_vec *ret, struct uspl_err *err)
{
	struct image *image = NULL;
	spot_vec all = { 0 };
	const struct spot *spot;
	int rc = module_image(proc, module, &image, err);

	if (!rc)
		rc = spots_find(image, &all, err);
	vec_for_each (&all, spot) {
		struct spot *place;

		if (rc || spot->kind == SPOT_NONE || (spot->entry_only && !request->entries) ||
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

/* What is known only when all parts are loaded: each copy of the runtime learns of all thunks. */
static int finish_controls(struct proc *proc, const struct trace_request *request,
			   const struct trace_session *session, struct uspl_err *err)
{
	const struct trace_region *region = session->regions.items, *other;
	struct uspl_trace_counters counters = { .enabled = 1 };
	uint64_t threshold = request->threshold_s > 0 ? clocks_ticks(request->threshold_s) : 0;
	struct uspl_trace_control control;
	int64_t tid_offset = share_tid_offset(proc, region->head.counters + sizeof(counters));
	int rc = proc_write(proc, region->head.counters, &counters, sizeof(counters), err);

	vec_for_each (&session->regions, region) {
		taddr at = region->head.code + USPL_TRACE_CONTROL;
		size_t n = 0;

		if (!rc)
			rc = proc_read(proc, at, &control, sizeof(control), err);
		if (rc)
			return rc;
		control.tid_offset = tid_offset;
		control.threshold = threshold;
		vec_for_each (&session->regions, other)
			control.arenas[n++] = (struct uspl_trace_arena){ other->head.thunks,
									 other->head.thunks_len };
		rc = proc_write(proc, at, &control, sizeof(control), err);
	}
	return rc;
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
