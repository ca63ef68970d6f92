// SPDX-License-Identifier: GPL-3.0-or-later
// load.c - an update's new code for one module, brought into the process

#include "apply/load.h"

#include <string.h>

#include "apply/load_place.h"
#include "apply/map_region.h"
#include "apply/sites.h"
#include "apply/data_states.h"
#include "apply/threads.h"
#include "safety/frames.h"
#include "switch/entries.h"
#include "switch/trampolines.h"
#include "objfile/refname.h"
#include "update/stated.h"

int load_describe(const struct update *update, const char *module_name, const char *build_id,
		  struct region *region, struct uspl_err *err)
{
	snprintf(region->id, sizeof(region->id), "%s", update->id);
	/* A description may be any length in the update; the record keeps what people read. */
	region->description = strndup(update->description ? update->description : "", 1024);
	region->module_name = strdup(module_name);
	region->build_id = strdup(build_id ? build_id : "");
	region->patch = strndup(update->patch ? update->patch : "", update->patch_len);
	region->digest = strdup(update->file.digest);
	region->signer = strdup(update->file.signer.key);
	if (!region->description || !region->module_name || !region->build_id || !region->patch ||
	    !region->digest || !region->signer)
		return uspl_fail_nomem(err);
	region->patch_len = strlen(region->patch);
	return 0;
}

/* The variables whose initial values change: those that new code means by their names. */
static int find_data(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct update_datum *datum;

	vec_for_each (&load->target->data, datum) {
		const struct objsym *sym = objfile_symbol(load->target->new_code, datum->symbol);
		struct region_datum *item = vec_push(&region->data_values);
		struct symbol_value value = { 0 };
		int rc = item ? 0 : uspl_fail_nomem(err);

		if (!rc && (!sym || sym->sec))
			rc = uspl_fail(err, USPL_E_FILE, "no new code reads '%s'", datum->symbol);
		if (!rc)
			rc = resolve(load->resolver, sym, &value, err);
		if (rc)
			return rc;
		item->addr = value.addr;
		item->len = datum->len;
		memcpy(item->was, datum->was, datum->len);
		memcpy(item->is, datum->is, datum->len);
		item->name = strdup(refname_symbol(datum->symbol));
		if (!item->name)
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* All of the region that doesn't depend on where it will lie. */
static int describe(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct sites_input input = { load->proc, load->image, load->match, load->target,
					   load->present };
	auto_buf struct buf states = { 0 };
	int rc = load_describe(load->update, load->module->name, load->module->build_id, region,
			       err);

	region->module = load->module->start;
	region->state = USPL_REGION_LOADED;
	if (rc)
		return rc;
	stated_text(load->update, &states);
	region->replaces = strdup(load->replaces);
	region->states = strdup(buf_str(&states));
	if (!region->replaces || !region->states || states.oom)
		return uspl_fail_nomem(err);
	region->by_thread = load->by_thread;
	region->agreed = load->by_thread && load->update->by_thread;
	rc = find_data(load, region, err);
	if (rc)
		return rc;
	rc = load_name_functions(load, region, err);
	if (rc)
		return rc;
	rc = load_name_hooks(load, region, err);
	if (rc)
		return rc;
	return sites_find(&input, region, err);
}

static struct frames frames_of(const struct region *region)
{
	return (struct frames){ .section = region->eh_frame,
				.noted = region->self + offsetof(struct uspl_region, frames) };
}

int load_remove(struct proc *proc, const module_vec *modules, struct region *region,
		struct uspl_err *err)
{
	return region->state == USPL_REGION_LOADED ? load_discard(proc, modules, region, err) : 0;
}

int load_discard(struct proc *proc, const module_vec *modules, struct region *region,
		 struct uspl_err *err)
{
	const struct frames frames = frames_of(region);
	int rc = frames_forget(proc, modules, &frames, err);

	if (rc)
		return rc;
	region->frames = false;
	rc = punned_discard(proc, region, err);
	if (rc)
		return rc;
	rc = threads_drop_key(proc, modules, region, err);
	if (rc)
		return rc;
	return map_region_unmap(proc, region, err);
}

/* The entries that need more than a jump to the new code; plan: nothing is touched. */
static int prepare_entries(const struct load *load, struct region *region, bool plan,
			   struct uspl_err *err)
{
	struct trampolines trampolines;
	int rc = entries_plan(&trampolines, load->proc, load->modules, region, err);

	if (!rc && !plan && trampolines.punned.items.n) {
		rc = trampolines_load(&trampolines, err);
		if (!rc)
			rc = proc_refresh_maps(load->proc, err);
	}
	trampolines_release(&trampolines);
	return rc;
}

int load_plan(const struct load *load, struct region *ret_region, struct uspl_err *err)
{
	auto_region struct region region = { 0 };
	auto_link struct link *link = NULL;
	struct region_site *site;
	int rc = describe(load, &region, err);

	if (rc)
		return rc;
	rc = load_link_in_room(load, PAGE, &region, &link, err);
	if (rc)
		return rc;
	rc = prepare_entries(load, &region, true, err);
	if (rc)
		return rc;
	vec_for_each (&region.sites, site)
		site->new_addr = 0;
	*ret_region = region;
	region = (struct region){ 0 };
	return 0;
}

static int load_new(const struct load *load, struct region *region, uint64_t info_len,
		    struct link **ret, struct uspl_err *err)
{
	for (int i = 0; i < MAP_REGION_TRIES; i++) {
		auto_link struct link *link = NULL;
		bool taken = true;
		int rc = load_link_in_room(load, info_len, region, &link, err);

		if (rc)
			return rc;
		rc = load_map_region(load->proc, link, region, &taken, err);
		if (rc)
			return rc;
		rc = taken ? 0 : load_write_region(load->proc, link, region, err);
		if (rc) {
			map_region_give_back(load->proc, region);
			return rc;
		}
		rc = proc_refresh_maps(load->proc, err);
		if (rc)
			return rc;
		if (!taken) {
			*ret = take_ptr(link);
			return 0;
		}
	}
	return map_region_fail_taken(load->proc, err);
}

/* Whether the code in the region is what would be loaded there now. */
static int compare_code(const struct load *load, const struct link *link,
			const struct region *region, bool *ret_same, struct uspl_err *err)
{
	*ret_same = false;
	for (int i = 0; i < LINK_DATA; i++) {
		const struct link_seg *seg = &link->segs[i];
		auto_free uint8_t *have = malloc(seg->len + 1);
		taddr at = region->self + region->info_len + seg->offset;
		bool there = true;
		int rc;

		if (!have)
			return uspl_fail_nomem(err);
		rc = proc_read_if_mapped(load->proc, at, have, seg->len, &there, err);
		if (rc)
			return rc;
		if (!there || (seg->len && memcmp(have, seg->bytes, seg->len)))
			return 0;
	}
	*ret_same = true;
	return 0;
}

/*
 * Whether the old region can be used again: then `region` is filled in and linked for it. If the
 * code can't be linked there, the old region isn't used; other failures are failures here, too, or
 * the process would get one region more.
 */
static int try_left_over(const struct load *load, const struct region *old, struct region *region,
			 struct link **ret, struct uspl_err *err)
{
	auto_link struct link *link = NULL;
	struct uspl_err why = { 0 };
	bool same = false;
	int rc = load_link_there(load, old, old->info_len, region, &link, &why);

	if (!rc && region->map_len == old->map_len)
		rc = compare_code(load, link, old, &same, &why);
	if (rc && uspl_code_status(rc) == USPL_STATUS_REFUSED)
		return 0;
	if (rc && err)
		*err = why;
	if (rc)
		return rc;
	if (same)
		*ret = take_ptr(link);
	return 0;
}

/*
 * Looks for a region that can be used again: one that was undone, or that a tool loaded which then
 * died. If there is one, `region` is filled in and *ret linked for it; else *ret stays NULL.
 */
static int find_left_over(const struct load *load, struct region *region, uint64_t info_len,
			  const struct region **ret_old, struct link **ret, struct uspl_err *err)
{
	const struct region *old;
	int rc = 0;

	vec_for_each (load->present, old) {
		if (region_is_wanted(old) || !region_has_id(old, region->id) ||
		    old->module != region->module || old->info_len != info_len ||
		    old->by_thread != region->by_thread)
			continue;
		rc = try_left_over(load, old, region, ret, err);
		*ret_old = old;
		if (rc || *ret)
			break;
	}
	return rc;
}

/*
 * What the program itself has to do for new code: its threads get a key, its unwinder learns of it.
 * If that can't be done, the code needn't stay mapped.
 */
static int tell_program(const struct load *load, const struct link *link, struct region *region,
			struct uspl_err *err)
{
	const struct objfile *code = load->target->new_code;
	enum frames_need need = FRAMES_OPTIONAL;
	struct frames frames = frames_of(region);
	int rc = threads_make_key(load->proc, load->modules, link, region, err);

	/* Code that handles exceptions is lost where the unwinder doesn't know it. */
	for (size_t i = 0; i < code->secs.n; i++)
		if (!strncmp(code->secs.items[i]->name, ".gcc_except_table", 17))
			need = FRAMES_NEEDED;
	frames.program = load->module->is_main ? load->image : NULL;
	if (!rc && !region->frames && region->eh_frame)
		rc = frames_register(load->proc, load->modules, &frames, need, &region->frames,
				     err);
	if ((rc == -USPL_E_BUSY || rc == -USPL_E_UNSUPPORTED) &&
	    region->state == USPL_REGION_LOADED &&
	    threads_drop_key(load->proc, load->modules, region, NULL) == 0)
		map_region_give_back(load->proc, region);
	return rc;
}

/* Tells the new code what other updates have made of the program's data. */
static int tell_states(const struct load *load, const struct link *link, struct uspl_err *err)
{
	const struct update_state *state;

	vec_for_each (&load->target->states, state) {
		uint32_t before = data_states_before(load->present, load->replaced, state->name);
		const struct objsym *sym =
			state->symbol ? objfile_symbol(load->target->new_code, state->symbol)
				      : NULL;
		int rc = sym ? proc_write(load->proc, link_address(link, sym), &before,
					  sizeof(before), err)
			     : 0;

		if (rc)
			return rc;
	}
	return 0;
}

int load_update(const struct load *load, struct region *ret_region, struct uspl_err *err)
{
	auto_region struct region region = { 0 };
	auto_link struct link *link = NULL;
	const struct region *left_over = NULL;
	auto_buf struct buf info = { 0 };
	int rc = describe(load, &region, err);

	if (rc)
		return rc;
	rc = region_encode(&region, &info, err);
	if (rc)
		return rc;
	rc = find_left_over(load, &region, info.len, &left_over, &link, err);
	if (rc)
		return rc;
	if (link) {
		region.state = left_over->state;
		region.frames = left_over->frames;
		region.thread_key = left_over->thread_key;
		trampolines_take_over(&region, left_over);
		rc = region_write_record(load->proc, &region, err);
		if (rc)
			return rc;
	} else {
		rc = load_new(load, &region, info.len, &link, err);
		if (rc)
			return rc;
	}
	rc = prepare_entries(load, &region, false, err);
	if (rc) {
		/* Without its entries the code needn't stay mapped. */
		if (region.state == USPL_REGION_LOADED)
			map_region_give_back(load->proc, &region);
		return rc;
	}
	rc = tell_states(load, link, err);
	if (rc)
		return rc;
	rc = tell_program(load, link, &region, err);
	if (rc)
		return rc;
	*ret_region = region;
	region = (struct region){ 0 };
	return 0;
}
