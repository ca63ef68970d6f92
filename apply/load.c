// SPDX-License-Identifier: GPL-3.0-or-later
// load.c - an update's new code for one module, brought into the process

#include "apply/load.h"

#include <string.h>
#include <sys/mman.h>

#include "apply/link.h"
#include "apply/load_values.h"
#include "apply/room.h"
#include "apply/sites.h"
#include "apply/threads.h"
#include "arch/arch.h"
#include "live/entries.h"
#include "live/frames.h"
#include "live/gate.h"
#include "update/refname.h"

static int lay_out(const struct load *load, bool far, struct link **ret, struct uspl_err *err)
{
	const struct link_wish wish = { .far = far, .lent = load_is_lent, .ctx = (void *)load };

	return link_layout(load->target->new_code, arch_native(), &wish, ret, err);
}

int load_describe(const struct update *update, const char *module_name, const char *build_id,
		  struct region *region, struct uspl_err *err)
{
	snprintf(region->id, sizeof(region->id), "%s", update->id);
	/* A description may be any length in the update; the record keeps what people read. */
	region->description = strndup(update->description ? update->description : "", 1024);
	region->module_name = strdup(module_name);
	region->build_id = strdup(build_id ? build_id : "");
	region->patch = strndup(update->patch ? update->patch : "", update->patch_len);
	if (!region->description || !region->module_name || !region->build_id || !region->patch)
		return uspl_fail_nomem(err);
	region->patch_len = strlen(region->patch);
	return 0;
}

/* What lies at the symbol is a function of the new code. */
static bool is_function(const struct objsym *sym)
{
	return sym->type == STT_FUNC && sym->sec && objsec_is_code(sym->sec) && sym->name[0];
}

/* The functions of the new code; where they lie is set when that is known. */
static int name_functions(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct objfile *code = load->target->new_code;
	int rc = 0;

	for (size_t i = 0; !rc && i < code->syms.n; i++)
		if (is_function(code->syms.items[i]))
			rc = region_range_add(&region->names,
					      refname_symbol(code->syms.items[i]->name), 0,
					      code->syms.items[i]->size, err);
	return rc;
}

static void aim_names(const struct load *load, const struct link *link, struct region *region)
{
	const struct objfile *code = load->target->new_code;
	struct region_range *name = region->names.items;

	for (size_t i = 0; i < code->syms.n; i++)
		if (is_function(code->syms.items[i]))
			(name++)->addr = link_address(link, code->syms.items[i]);
}

/* All of the region that doesn't depend on where it will lie. */
static int describe(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct sites_input input = { load->proc, load->image, load->match, load->target,
					   load->present };
	int rc = load_describe(load->update, load->module->name, load->module->build_id, region,
			       err);

	region->module = load->module->start;
	region->state = USPL_REGION_LOADED;
	if (!rc)
		rc = name_functions(load, region, err);
	return rc ? rc : sites_find(&input, region, err);
}

/* With guards, info, linked segments and, but for code out of the module's reach, gates. */
static uint64_t region_len(const struct region *region, const struct link *link, uint64_t info_len)
{
	return info_len + link->len + (link->far ? 0 : gates_room(region)) + 2 * PAGE;
}

/* Fills in the addresses: guard, info, linked segments, gates, guard. */
static void place(const struct link *link, taddr map, uint64_t info_len, struct region *region)
{
	region->map = map;
	region->map_len = region_len(region, link, info_len);
	region->self = map + PAGE;
	region->info_len = info_len;
	region->text = region->self + info_len + link->segs[LINK_TEXT].offset;
	region->text_len = link->segs[LINK_TEXT].len;
	region->data = link->segs[LINK_DATA].len
			       ? region->self + info_len + link->segs[LINK_DATA].offset
			       : 0;
	region->data_len = link->segs[LINK_DATA].len;
	region->eh_frame =
		link->eh_frame_len
			? region->self + info_len + link->segs[LINK_RODATA].offset + link->eh_frame
			: 0;
	region->eh_frame_len = link->eh_frame_len;
	region->detours = link->detours;
	region->gates = region->gates_len = region->word = 0;
	if (!link->far)
		gates_place(region, region->self + info_len + link->len);
}

static int aim_sites(const struct load *load, const struct link *link, struct region *region,
		     struct uspl_err *err)
{
	struct region_site *site = region->sites.items;
	const struct update_function *function;

	vec_for_each (&load->target->functions, function) {
		const struct objsym *sym = objfile_symbol(load->target->new_code, function->symbol);

		if (!sym || !sym->sec)
			return uspl_fail(err, USPL_E_FILE, "the update has no new code for '%s'",
					 function->symbol);
		site->new_addr = link_address(link, sym);
		/* Where this isn't all, entries_plan sees to it. */
		arch_native()->jump_encode(site->addr, site->new_addr, site->new_bytes);
		site++;
	}
	return 0;
}

static uint64_t encoded_len(const struct region *region, struct uspl_err *err)
{
	auto_buf struct buf info = { 0 };

	return region_encode(region, &info, err) ? 0 : info.len;
}

/* Relocates for a place and sets the addresses of the region. */
static int link_at(const struct load *load, struct link *link, taddr map, uint64_t info_len,
		   struct region *region, struct uspl_err *err)
{
	int rc;

	link->threads.key_addr = map + PAGE + offsetof(struct uspl_region, thread_key);
	rc = link_relocate(link, map + PAGE + info_len, load_value, (void *)load, err);
	if (rc)
		return rc;
	place(link, map, info_len, region);
	aim_names(load, link, region);
	return aim_sites(load, link, region, err);
}

static struct frames frames_of(const struct region *region)
{
	return (struct frames){ region->eh_frame,
				region->self + offsetof(struct uspl_region, frames) };
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

	if (!rc)
		region->frames = false;
	if (!rc)
		rc = pads_discard(proc, region, err);
	if (!rc)
		rc = threads_drop_key(proc, modules, region, err);
	return rc ? rc : room_unmap(proc, region, err);
}

/* The info part, and the link's segments behind it. */
static int map_region(struct proc *proc, const struct link *link, const struct region *region,
		      bool *ret_taken, struct uspl_err *err)
{
	static const int prot[LINK_N_SEGS] = { [LINK_TEXT] = PROT_READ | PROT_EXEC,
					       [LINK_RODATA] = PROT_READ,
					       [LINK_DATA] = PROT_READ | PROT_WRITE };
	struct room_part parts[ROOM_PARTS] = {
		{ region->gates, region->gates_len, PROT_READ | PROT_EXEC },
		{ region->word, USPL_WORD_LEN, PROT_READ | PROT_WRITE },
	};
	taddr base = region->self + region->info_len;

	for (int i = 0; i < LINK_N_SEGS; i++)
		parts[2 + i] = (struct room_part){ base + link->segs[i].offset, link->segs[i].len,
						   prot[i] };
	return room_map(proc, region, parts, ARRAY_SIZE(parts), ret_taken, err);
}

static int write_region(struct proc *proc, const struct link *link, const struct region *region,
			struct uspl_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < LINK_N_SEGS; i++)
		if (link->segs[i].len)
			rc = proc_write(proc,
					region->self + region->info_len + link->segs[i].offset,
					link->segs[i].bytes, link->segs[i].len, err);
	/* The record last: what has no record doesn't exist. */
	return rc ? rc : region_write_record(proc, region, err);
}

/* A laid out link, and room for the region with it. */
static int find_room(const struct load *load, uint64_t info_len, struct region *region,
		     struct link **ret, taddr *ret_map, struct uspl_err *err)
{
	auto_link struct link *link = NULL;
	bool far = false, near = false;
	int rc = 0;

	/* Where the module's neighbourhood is full, the code is laid out anew, for any place. */
	for (int i = 0; !rc && !near && i < 2; i++) {
		uint64_t len;

		link_free(take_ptr(link));
		rc = lay_out(load, far, &link, err);
		len = rc ? 0 : region_len(region, link, info_len);
		if (!rc)
			rc = room_find(load->proc, load->module, len, ret_map, err);
		near = !rc && room_is_near(load->module, *ret_map, len);
		far = !near;
	}
	if (!rc)
		*ret = take_ptr(link);
	return rc;
}

/* Links for a place where there is room at the moment. */
static int link_in_room(const struct load *load, uint64_t info_len, struct region *region,
			struct link **ret, struct uspl_err *err)
{
	auto_link struct link *link = NULL;
	taddr map;
	int rc = find_room(load, info_len, region, &link, &map, err);

	if (!rc)
		rc = link_at(load, link, map, info_len, region, err);
	if (!rc)
		*ret = take_ptr(link);
	return rc;
}

/* The entries that need more than a jump to the new code; plan: nothing is touched. */
static int prepare_entries(const struct load *load, struct region *region, bool plan,
			   struct uspl_err *err)
{
	struct gates gates;
	int rc = entries_plan(&gates, load->proc, load->modules, region, err);

	if (!rc && !plan && gates.pads.items.n) {
		rc = gates_load(&gates, err);
		if (!rc)
			rc = proc_refresh_maps(load->proc, err);
	}
	gates_release(&gates);
	return rc;
}

int load_plan(const struct load *load, struct region *ret_region, struct uspl_err *err)
{
	auto_region struct region region = { 0 };
	auto_link struct link *link = NULL;
	struct region_site *site;
	int rc = describe(load, &region, err);

	if (!rc)
		rc = link_in_room(load, PAGE, &region, &link, err);
	if (!rc)
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
	bool taken = true;
	int rc = 0;

	for (int i = 0; !rc && taken && i < ROOM_TRIES; i++) {
		auto_link struct link *link = NULL;

		rc = link_in_room(load, info_len, region, &link, err);
		if (!rc)
			rc = map_region(load->proc, link, region, &taken, err);
		if (!rc && !taken) {
			rc = write_region(load->proc, link, region, err);
			if (rc)
				room_give_back(load->proc, region);
		}
		if (!rc)
			rc = proc_refresh_maps(load->proc, err);
		if (!rc && !taken)
			*ret = take_ptr(link);
	}
	return !rc && taken ? room_fail_taken(load->proc, err) : rc;
}

/* True if the code in the region is what would be loaded there now. */
static bool same_code(const struct load *load, const struct link *link, const struct region *region)
{
	for (int i = 0; i < LINK_DATA; i++) {
		const struct link_seg *seg = &link->segs[i];
		auto_free uint8_t *have = seg->len ? malloc(seg->len) : NULL;
		taddr at = region->self + region->info_len + seg->offset;

		if (seg->len &&
		    (!have || proc_read_some(load->proc, at, have, seg->len) != seg->len ||
		     memcmp(have, seg->bytes, seg->len)))
			return false;
	}
	return true;
}

/*
 * Looks for a region that can be used again: one that was undone, or that a tool loaded which then
 * died. Returns it, with `region` filled in and linked for, or NULL.
 */
static const struct region *find_left_over(const struct load *load, struct region *region,
					   uint64_t info_len, struct link **ret)
{
	const struct region *old;

	vec_for_each (load->present, old) {
		auto_link struct link *link = NULL;

		if (region_is_wanted(old) || !region_has_id(old, region->id) ||
		    old->module != region->module || old->info_len != info_len)
			continue;
		if (lay_out(load, !old->gates, &link, NULL) == 0 &&
		    link_at(load, link, old->map, info_len, region, NULL) == 0 &&
		    region->map_len == old->map_len && same_code(load, link, old)) {
			*ret = take_ptr(link);
			return old;
		}
	}
	return NULL;
}

static bool handles_exceptions(const struct objfile *code)
{
	for (size_t i = 0; i < code->secs.n; i++)
		if (!strncmp(code->secs.items[i]->name, ".gcc_except_table", 17))
			return true;
	return false;
}

/* Makes new code known to the program's unwinder. */
static int tell_unwinder(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct frames frames = frames_of(region);
	enum frames_need need =
		handles_exceptions(load->target->new_code) ? FRAMES_NEEDED : FRAMES_OPTIONAL;

	if (region->frames || !region->eh_frame)
		return 0;
	return frames_register(load->proc, load->modules, &frames, need, &region->frames, err);
}

/*
 * What the program itself has to do for new code: its threads get a key, its unwinder learns of it.
 * If it can't be done, the code needn't stay mapped.
 */
static int tell_program(const struct load *load, const struct link *link, struct region *region,
			struct uspl_err *err)
{
	int rc = threads_make_key(load->proc, load->modules, link, region, err);

	if (!rc)
		rc = tell_unwinder(load, region, err);
	if ((rc == -USPL_E_BUSY || rc == -USPL_E_UNSUPPORTED) &&
	    region->state == USPL_REGION_LOADED &&
	    threads_drop_key(load->proc, load->modules, region, NULL) == 0)
		room_give_back(load->proc, region);
	return rc;
}

/* Without its entries the code needn't stay mapped. */
static int load_entries(const struct load *load, struct region *region, struct uspl_err *err)
{
	int rc = prepare_entries(load, region, false, err);

	if (rc && region->state == USPL_REGION_LOADED)
		room_give_back(load->proc, region);
	return rc;
}

int load_update(const struct load *load, struct region *ret_region, struct uspl_err *err)
{
	auto_region struct region region = { 0 };
	auto_link struct link *link = NULL;
	const struct region *left_over;
	uint64_t info_len;
	int rc = describe(load, &region, err);

	if (rc)
		return rc;
	info_len = encoded_len(&region, err);
	if (!info_len)
		return err ? -(int)err->code : -USPL_E_NOMEM;
	left_over = find_left_over(load, &region, info_len, &link);
	if (left_over) {
		region.state = left_over->state;
		region.frames = left_over->frames;
		region.thread_key = left_over->thread_key;
		gates_take_over(&region, left_over);
		rc = region_write_record(load->proc, &region, err);
	} else {
		rc = load_new(load, &region, info_len, &link, err);
	}
	if (!rc)
		rc = load_entries(load, &region, err);
	if (!rc)
		rc = tell_program(load, link, &region, err);
	if (rc)
		return rc;
	*ret_region = region;
	region = (struct region){ 0 };
	return 0;
}
