// SPDX-License-Identifier: GPL-3.0-or-later
// load_place.c - the place of new code: where there is room for it, linked for that, mapped and
// written

#include "apply/load_place.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "apply/load_values.h"
#include "apply/map_region.h"
#include "arch/arch.h"
#include "image/image.h"
#include "proc/shstk.h"
#include "switch/trampolines.h"
#include "objfile/refname.h"

int load_name_functions(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct objfile *code = load->target->new_code;
	int rc = 0;

	for (size_t i = 0; i < code->syms.n; i++)
		if (objsym_is_function(code->syms.items[i])) {
			rc = region_range_add(&region->names,
					      refname_symbol(code->syms.items[i]->name), 0,
					      code->syms.items[i]->size, err);
			if (rc)
				return rc;
		}
	return 0;
}

int load_name_hooks(const struct load *load, struct region *region, struct uspl_err *err)
{
	const struct update_hook *hook;

	region->has_hooks = update_has_hooks(load->update);
	vec_for_each (&load->target->hooks, hook) {
		int rc = region_hook_add(region, hook->name, hook->kind, err);

		if (rc)
			return rc;
	}
	return 0;
}

/* With guards, info, linked segments and, but for code out of the module's reach, trampolines. */
static uint64_t region_len(const struct region *region, const struct link *link, uint64_t info_len)
{
	return info_len + link->len + (link->far ? 0 : trampolines_size(region)) + 2 * PAGE;
}

/* Fills in the addresses: guard, info, linked segments, trampolines, guard. */
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
	region->trampolines = region->trampolines_len = region->selector = 0;
	if (!link->far)
		trampolines_place(region, region->self + info_len + link->len);
}

static int lay_out(const struct load *load, bool far, struct link **ret, struct uspl_err *err)
{
	const struct link_wish wish = { .far = far, .lent = load_is_lent, .ctx = (void *)load };

	return link_layout(load->target->new_code, arch_native(), &wish, ret, err);
}

/*
 * Where functions that look at their caller return to. What the image has there must be what the
 * process has: a thread runs it.
 */
static int find_return_place(const struct load *load, struct link *link, struct uspl_err *err)
{
	const char *name = load->module->name;
	const uint8_t *wanted;
	uint8_t there[16];
	size_t len;
	int rc;

	if (shstk_in_process(load->proc))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "new code of '%s' calls '%s', which looks at its caller: pid %d "
				 "has a shadow stack, so that it can't be led to return to '%s'",
				 name, link->asks_caller, load->proc->pid, name);
	link->return_place = image_return_place(load->image, link->arch, &wanted, &len);
	if (!link->return_place)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "new code of '%s' calls '%s', which looks at its caller, and no "
				 "code of '%s' is fit to return to",
				 name, link->asks_caller, name);
	rc = proc_read(load->proc, link->return_place, there, len, err);
	if (!rc && memcmp(there, wanted, len))
		rc = uspl_fail(err, USPL_E_BUSY, "the code of '%s' at 0x%" PRIx64 " is changed",
			       name, link->return_place);
	return rc;
}

/* Relocates for a place and sets the addresses of the region. */
static int link_at(const struct load *load, struct link *link, taddr map, uint64_t info_len,
		   struct region *region, struct uspl_err *err)
{
	const struct objfile *code = load->target->new_code;
	struct region_range *name = region->names.items;
	struct region_site *site = region->sites.items;
	const struct update_function *function;
	int rc = link->asks_caller ? find_return_place(load, link, err) : 0;

	if (rc)
		return rc;
	link->threads.key_addr = map + PAGE + offsetof(struct uspl_region, thread_key);
	rc = link_relocate(link, map + PAGE + info_len, load_value, (void *)load, err);
	if (rc)
		return rc;
	place(link, map, info_len, region);
	for (size_t i = 0; i < code->syms.n; i++)
		if (objsym_is_function(code->syms.items[i]))
			(name++)->addr = link_address(link, code->syms.items[i]);
	for (size_t i = 0; i < region->hooks.n; i++) {
		const char *symbol = load->target->hooks.items[i].symbol;

		region->hooks.items[i].addr = link_address(link, objfile_symbol(code, symbol));
	}
	vec_for_each (&load->target->functions, function) {
		const struct objsym *sym = objfile_symbol(code, function->symbol);

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

/* The info part, and the link's segments behind it. */
int load_map_region(struct proc *proc, const struct link *link, const struct region *region,
		    bool *ret_taken, struct uspl_err *err)
{
	static const int prot[LINK_N_SEGS] = { [LINK_TEXT] = PROT_READ | PROT_EXEC,
					       [LINK_RODATA] = PROT_READ,
					       [LINK_DATA] = PROT_READ | PROT_WRITE };
	struct map_region_part parts[MAP_REGION_PARTS] = {
		{ region->trampolines, region->trampolines_len, PROT_READ | PROT_EXEC },
		{ region->selector, region_selector_len(region), PROT_READ | PROT_WRITE },
	};
	taddr base = region->self + region->info_len;

	for (int i = 0; i < LINK_N_SEGS; i++)
		parts[2 + i] = (struct map_region_part){ base + link->segs[i].offset,
							 link->segs[i].len, prot[i] };
	return map_region_map(proc, region, parts, ARRAY_SIZE(parts),
			      trampolines_result_page(region), ret_taken, err);
}

int load_write_region(struct proc *proc, const struct link *link, const struct region *region,
		      struct uspl_err *err)
{
	int rc = 0;

	for (int i = 0; i < LINK_N_SEGS; i++)
		if (link->segs[i].len) {
			rc = proc_write(proc,
					region->self + region->info_len + link->segs[i].offset,
					link->segs[i].bytes, link->segs[i].len, err);
			if (rc)
				return rc;
		}
	/* The record last: what has no record doesn't exist. */
	return region_write_record(proc, region, err);
}

int load_link_in_room(const struct load *load, uint64_t info_len, struct region *region,
		      struct link **ret, struct uspl_err *err)
{
	auto_link struct link *link = NULL;
	bool far = false, near = false;
	taddr map = 0;
	int rc;

	/* Where the module's neighbourhood is full, the code is laid out anew, for any place. */
	for (int i = 0; !near && i < 2; i++) {
		uint64_t len;

		link_free(take_ptr(link));
		rc = lay_out(load, far, &link, err);
		if (rc)
			return rc;
		len = region_len(region, link, info_len);
		rc = map_region_find(load->proc, load->module, len, &map, err);
		if (rc)
			return rc;
		near = map_region_is_near(load->module, map, len);
		far = !near;
	}
	rc = link_at(load, link, map, info_len, region, err);
	if (rc)
		return rc;
	*ret = take_ptr(link);
	return 0;
}

int load_link_there(const struct load *load, const struct region *there, uint64_t info_len,
		    struct region *region, struct link **ret, struct uspl_err *err)
{
	auto_link struct link *link = NULL;
	int rc = lay_out(load, !there->trampolines, &link, err);

	if (rc)
		return rc;
	rc = link_at(load, link, there->map, info_len, region, err);
	if (rc)
		return rc;
	*ret = take_ptr(link);
	return 0;
}
