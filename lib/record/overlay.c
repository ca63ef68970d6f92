// SPDX-License-Identifier: GPL-3.0-or-later
// overlay.c - a module as it runs now: its image with the applied updates laid over it, without the
// tracer and markers

#include "record/overlay.h"

#include <stdlib.h>

#include "record/region_entry.h"
#include "record/chain_slot.h"

bool overlay_holds(const struct region *region, taddr addr)
{
	return addr >= region->map && addr - region->map < region->map_len;
}

/* One part of a region; its bytes are read unless it is the part that the program writes. */
static int add_part(struct image *image, const struct proc *proc, taddr start, taddr end,
		    const struct image_seg *kind, struct uspl_err *err)
{
	struct image_seg seg = *kind;
	int rc = 0;

	if (end <= start)
		return 0;
	seg.start = start;
	seg.len = (size_t)(end - start);
	if (!seg.write) {
		seg.bytes = malloc(seg.len);
		rc = seg.bytes ? proc_read(proc, start, seg.bytes, seg.len, err)
			       : uspl_fail_nomem(err);
	}
	if (!rc && !image_add_seg(image, &seg))
		rc = uspl_fail_nomem(err);
	if (rc)
		free(seg.bytes);
	return rc;
}

static int add_region(struct image *image, const struct proc *proc, const region_vec *regions,
		      const struct region *region, struct uspl_err *err)
{
	static const struct image_seg code = { .exec = true }, constants = { .exec = false },
				      data = { .write = true };
	/*
	 * Before the data, or else before the trampolines or the guard, lie the constants: see
	 * abi.h.
	 */
	taddr text_end = region->text + region->text_len;
	taddr data_start = region->data_len      ? region->data
			   : region->trampolines ? region->trampolines
						 : region->map + region->map_len - PAGE;
	/* More than any update has: what a record claims must not cost more than that. */
	enum { HOOKS_MAX = 1024 };
	const struct region_range *function;
	const struct region_site *site;
	int rc = add_part(image, proc, region->text, text_end, &code, err);

	if (rc)
		return rc;
	rc = add_part(image, proc, text_end, data_start, &constants, err);
	if (rc)
		return rc;
	rc = add_part(image, proc, region->data, region->data + region->data_len, &data, err);
	if (rc)
		return rc;
	vec_for_each (&region->sites, site)
		if (!image_redirect(image, region_entry_origin(regions, region_site_entry(site)),
				    site->new_addr))
			return uspl_fail_nomem(err);
	/* No code that is compared leads to the hooks of an update: their names do. */
	for (size_t i = 0; i < region->hooks.n && i < HOOKS_MAX; i++)
		vec_for_each (&region->names, function) {
			if (function->addr != region->hooks.items[i].addr)
				continue;
			if (!image_add_function(image, function->name, function->addr,
						function->size))
				return uspl_fail_nomem(err);
			break;
		}
	return 0;
}

int overlay_add(struct image *image, const struct proc *proc, const region_vec *regions,
		taddr module, struct uspl_err *err)
{
	auto_marks struct marks marks = { 0 };
	const struct region *region;
	int rc = marks_read(proc, &marks, err);

	if (rc)
		return rc;
	trace_session_unpatch_image(&marks.traced, image);
	vec_for_each (regions, region)
		if (region_is_live(region) && region->module == module) {
			rc = add_region(image, proc, regions, region, err);
			if (rc)
				return rc;
		}
	marks_unpatch_image(proc, &marks, image);
	return 0;
}

void overlay_leave_out(struct image *image, const region_vec *regions)
{
	chain_slots_unpatch_image(regions, image);
}

int overlay_image(const struct proc *proc, const struct module *module, struct image **ret,
		  struct uspl_err *err)
{
	region_vec updates = { 0 };
	struct image *image = NULL;
	int rc = module_image(proc, module, &image, err);

	if (!rc)
		rc = regions_read(proc, &updates, err);
	if (!rc)
		rc = overlay_add(image, proc, &updates, module->start, err);
	regions_release(&updates);
	if (rc)
		image_free(image);
	else
		*ret = image;
	return rc;
}

int overlay_bare_image(const struct proc *proc, const struct module *module,
		       const region_vec *updates, const struct marks *marks, struct image **ret,
		       struct uspl_err *err)
{
	int rc = module_image_sparse(proc, module, ret, err);

	if (rc)
		return rc;
	(*ret)->forgets = !updates->n && !marks->regions.n && !marks->traced.regions.n;
	/* One of them has its jump at an entry, the others have theirs elsewhere. */
	chain_slots_unpatch_image(updates, *ret);
	trace_session_unpatch_image(&marks->traced, *ret);
	marks_unpatch_image(proc, marks, *ret);
	return 0;
}
