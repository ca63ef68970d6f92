// SPDX-License-Identifier: GPL-3.0-or-later
// session_grow.c - libraries that were opened since a session has begun become part of it
/*
 * A part for a new library is loaded as at the start, with ids behind those that there are. Before
 * its functions are on, all copies of the runtime are told where its thunks lie. A library that was
 * closed and comes back to the same place gets its jumps again, if its part would be the same byte
 * for byte: the part of a library that is gone stays, since records speak of it.
 *
 * Another library where a traced one was is left out: its functions would have two sites each.
 */

#include "trace/engine/session_grow.h"

#include <string.h>

#include "base/log.h"
#include "proc/memcg.h"
#include "trace/engine/choose.h"
#include "trace/engine/clocks.h"
#include "trace/engine/session_parts.h"
#include "trace/engine/switch.h"
#include "trace/engine/trace_module.h"

/* A session while it grows. */
struct growing {
	struct starting *starting; /* has what is new, and behind that what comes back */
	struct trace_session *session;
	session_passed_vec *passed;
	size_t fresh; /* parts that are new */
};

static int pass(session_passed_vec *passed, const struct module *module, struct uspl_err *err)
{
	struct session_passed *item = vec_push(passed);

	if (!item)
		return uspl_fail_nomem(err);
	*item = (struct session_passed){ module->start, module->dev, module->inode };
	return 0;
}

/* What isn't loaded any more may come back as something else. */
static void forget_gone(session_passed_vec *passed, const module_vec *modules)
{
	const struct session_passed *item;
	size_t n = 0;

	vec_for_each (passed, item) {
		const struct module *module = module_at(modules, item->start);

		if (module && module->start == item->start && module->inode == item->inode)
			passed->items[n++] = *item;
	}
	passed->n = n;
}

/* The part that was made for what lies, or lay, where the module is; NULL if there is none. */
static struct trace_region *part_there(struct trace_session *session, const struct module *module)
{
	struct trace_region *region;
	const struct uspl_trace_site *site;

	vec_for_each (&session->regions, region) {
		if (region->head.module == module->start)
			return region;
		vec_for_each (&region->sites, site)
			if (site->entry >= module->start && site->entry < module->end)
				return region;
	}
	return NULL;
}

/* True if one of its functions has the tracer's jump. */
static bool is_on(const struct proc *proc, const struct trace_region *region)
{
	uint8_t have[USPL_TRACE_SITE_BYTES], jump[USPL_TRACE_SITE_BYTES];

	for (size_t i = 0; i < region->sites.n; i++) {
		trace_module_site_jump(region, i, jump);
		if (proc_read_some(proc, region->sites.items[i].entry, have, sizeof(have)) ==
			    sizeof(have) &&
		    !memcmp(have, jump, sizeof(jump)))
			return true;
	}
	return false;
}

/* The library is there again, or another one is. */
static int bring_back(struct growing *growing, const struct module *module,
		      struct trace_region *region, struct uspl_err *err)
{
	struct starting *starting = growing->starting;
	auto_vec candidate_vec candidates = { 0 };
	struct trace_region *place;
	bool fits = false;
	int rc;

	if (region->head.module == module->start && !strcmp(region->module_name, module->name)) {
		rc = choose_candidates(starting->proc, module, &starting->updates,
				       starting->request, &candidates, err);
		if (rc)
			return rc;
		rc = trace_module_fits(starting->proc, module, &candidates, starting->request,
				       region, &fits, err);
		if (rc)
			return rc;
	}
	if (!fits) {
		log_info("trace", "'%s' lies where '%s' was traced, and is another one",
			 module->path, region->module_name);
		return pass(growing->passed, module, err);
	}
	place = vec_push(&starting->session.regions);
	if (!place)
		return uspl_fail_nomem(err);
	*place = *region;
	/* It is in the other list now, as far as memory is concerned. */
	*region = (struct trace_region){ .head = region->head };
	return 0;
}

/*
 * The dynamic linker writes to the code of such a library after it has put it into its list: what
 * has been copied to a thunk by then would be wrong.
 */
static bool has_code_relocated(const struct proc *proc, const struct module *module)
{
	auto_free Elf64_Dyn *entries = NULL;
	size_t n = 0;

	if (module_dynamic(proc, module, &entries, &n, NULL))
		return true;
	for (size_t i = 0; i < n; i++)
		if (entries[i].d_tag == DT_TEXTREL ||
		    (entries[i].d_tag == DT_FLAGS && (entries[i].d_un.d_val & DF_TEXTREL)))
			return true;
	return false;
}

static int load_fresh(struct growing *growing, const struct module *module, struct uspl_err *err)
{
	struct starting *starting = growing->starting;
	size_t before = starting->session.regions.n;
	struct patch_result mcount = { 0 };
	int rc;

	if (has_code_relocated(starting->proc, module)) {
		log_info("trace", "'%s' has code that is relocated", module->path);
		return pass(growing->passed, module, err);
	}
	rc = session_try_module(starting, module, &mcount, err);
	if (rc)
		return rc;
	if (starting->session.regions.n == before)
		return pass(growing->passed, module, err);
	growing->fresh++;
	return 0;
}

/* One that is there as long as the program was looked at when tracing began. */
static bool is_wanted(const struct trace_choice *choice, const session_passed_vec *passed,
		      const struct module *module)
{
	const struct session_passed *item;

	vec_for_each (passed, item)
		if (item->start == module->start && item->dev == module->dev &&
		    item->inode == module->inode)
			return false;
	return !module->lasting && choice->module(choice->ctx, module);
}

bool session_can_grow(const struct proc *proc, const module_vec *modules,
		      const struct trace_choice *choice, struct trace_session *session,
		      session_passed_vec *passed)
{
	const struct module *module;

	forget_gone(passed, modules);
	vec_for_each (modules, module) {
		const struct trace_region *region;

		if (!is_wanted(choice, passed, module))
			continue;
		region = part_there(session, module);
		if (!region || !is_on(proc, region))
			return true;
	}
	return false;
}

/* back: those that come back, which are behind those that are new. */
static int load(struct growing *growing, bool back, struct uspl_err *err)
{
	const struct trace_choice *choice = &growing->starting->request->choice;
	const struct module *module;

	vec_for_each (growing->starting->modules, module) {
		struct trace_region *region;
		struct uspl_err why = { 0 };
		int rc;

		if (!is_wanted(choice, growing->passed, module))
			continue;
		region = part_there(growing->session, module);
		if (!region == back || (region && is_on(growing->starting->proc, region)))
			continue;
		rc = back ? bring_back(growing, module, region, &why)
			  : load_fresh(growing, module, &why);
		if (rc == -USPL_E_NOMEM) {
			if (err)
				*err = why;
			return rc;
		}
		if (!rc)
			continue;
		log_info("trace", "'%s' is left out: %s", module->path, why.msg);
		if (module_explains(growing->starting->proc, module, rc))
			continue;
		rc = pass(growing->passed, module, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * All copies of the runtime know all arenas; the first one that is empty ends their list. A thread
 * may go through it meanwhile: an arena has its length last.
 */
static int write_arena(const struct growing *growing, const struct trace_region *of, size_t i,
		       const struct uspl_trace_arena *arena, struct uspl_err *err)
{
	taddr at = of->head.code + USPL_TRACE_CONTROL +
		   offsetof(struct uspl_trace_control, arenas) + i * sizeof(*arena);
	struct proc *proc = growing->starting->proc;
	int rc = proc_write(proc, at, &arena->start, sizeof(arena->start), err);

	return rc ? rc
		  : proc_write(proc, at + offsetof(struct uspl_trace_arena, len), &arena->len,
			       sizeof(arena->len), err);
}

static int tell_runtimes(const struct growing *growing, struct uspl_err *err)
{
	struct proc *proc = growing->starting->proc;
	const struct trace_region *old, *fresh = growing->starting->session.regions.items;
	size_t n = growing->session->regions.n;
	struct uspl_trace_control control;
	int rc = proc_read(proc, growing->session->regions.items[0].head.code + USPL_TRACE_CONTROL,
			   &control, sizeof(control), err);

	if (rc)
		return rc;
	for (size_t i = 0; i < growing->fresh; i++) {
		control.arenas[n + i] =
			(struct uspl_trace_arena){ fresh[i].head.thunks, fresh[i].head.thunks_len };
		vec_for_each (&growing->session->regions, old) {
			rc = write_arena(growing, old, n + i, &control.arenas[n + i], err);
			if (rc)
				return rc;
		}
	}
	for (size_t i = 0; i < growing->fresh; i++) {
		rc = proc_write(proc, fresh[i].head.code + USPL_TRACE_CONTROL, &control,
				sizeof(control), err);
		if (rc)
			return rc;
	}
	return 0;
}

/* What is new goes again, unless threads may be in it: then the session has it until it stops. */
static void take_back(struct growing *growing)
{
	const struct switch_way way = { .drain = { .scan_bytes = DRAIN_SCAN_BYTES } };
	struct starting *starting = growing->starting;
	struct trace_switch off = { 0 };
	const struct trace_region *old;
	struct uspl_err why = { 0 };
	size_t n = growing->session->regions.n;
	int rc = switch_sites(starting->proc, starting->modules, &starting->session, &way, &off,
			      &why);

	/* The last one first: ids are without gaps. */
	for (size_t i = growing->fresh; !rc && !off.inside && i-- > 0;) {
		const struct uspl_trace_arena none = { 0 };

		rc = session_unload_module(starting->proc, starting->modules,
					   &starting->session.regions.items[i], &why);
		vec_for_each (&growing->session->regions, old)
			rc = rc ? rc : write_arena(growing, old, n + i, &none, &why);
	}
	if (rc)
		log_info("trace", "what was loaded for libraries that were opened stays: %s",
			 why.msg);
}

static int set_going(struct growing *growing, struct uspl_err *err)
{
	const struct switch_way way = { .on = true };
	struct starting *starting = growing->starting;
	struct trace_switch result = { 0 };
	const struct trace_region *region;
	const struct uspl_trace_site *site;
	size_t all;
	uint64_t need = 0;
	int rc;

	/* Code that is changed becomes the process's own. */
	vec_for_each (&starting->session.regions, region) {
		taddr page = 0;

		vec_for_each (&region->sites, site) {
			need += site->entry / PAGE != page ? PAGE : 0;
			page = site->entry / PAGE;
		}
	}
	rc = memcg_require(starting->proc, need, err);
	if (rc)
		return rc;
	rc = tell_runtimes(growing, err);
	if (rc)
		return rc;
	/* An unwinder may have come with the library. */
	rc = session_tell_unwinder(starting->proc, starting->modules, growing->session, err);
	if (rc)
		return rc;
	/* Those that come back are among the old ones, and told of: not twice. */
	all = starting->session.regions.n;
	starting->session.regions.n = growing->fresh;
	rc = session_tell_unwinder(starting->proc, starting->modules, &starting->session, err);
	starting->session.regions.n = all;
	if (rc)
		return rc;
	return switch_sites(starting->proc, starting->modules, &starting->session, &way, &result,
			    err);
}

int session_grow(struct proc *proc, const module_vec *modules, const struct trace_request *request,
		 struct trace_session *session, session_passed_vec *passed,
		 session_grow_loaded *loaded, size_t *ret_parts, struct uspl_err *err)
{
	const struct trace_region *last = &session->regions.items[session->regions.n - 1];
	auto_starting struct starting starting = {
		.proc = proc,
		.modules = modules,
		.request = request,
		.shared = session->regions.items[0].head,
		.before = session->regions.n,
	};
	struct growing growing = { .starting = &starting, .session = session, .passed = passed };
	struct uspl_trace_region *shared = &starting.shared;
	struct trace_clocks clocks;
	int rc;

	*ret_parts = 0;
	forget_gone(passed, modules);
	clocks_read(&clocks);
	shared->first_id = last->head.first_id + last->head.n_sites;
	shared->frames = 0;
	/* Since when this part's calls are recorded. */
	shared->start_ticks = clocks.ticks;
	shared->start_ns = clocks.ns;
	rc = session_look_first(&starting, err);
	if (rc)
		return rc;
	rc = load(&growing, false, err);
	if (!rc)
		rc = load(&growing, true, err);
	if (!rc && request->entries && shared->first_id > USPL_TRACE_ENTRY_IDS_MAX)
		rc = uspl_fail(err, USPL_E_UNSUPPORTED, "more than %d functions at once",
			       USPL_TRACE_ENTRY_IDS_MAX - 1);
	if (!rc && growing.fresh && loaded)
		loaded(proc);
	if (!rc && starting.session.regions.n)
		rc = set_going(&growing, err);
	if (rc && rc != -USPL_E_STRANDED)
		take_back(&growing);
	if (!rc)
		*ret_parts = starting.session.regions.n;
	return rc;
}
