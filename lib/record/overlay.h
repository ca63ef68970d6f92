/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * overlay.h - a module as it runs now: its image with the applied updates laid over it
 *
 * The next update is made from the source with the earlier updates in it. So the code that it is to
 * be compared with lies partly in the module and partly in the regions of these updates, and a call
 * of a redirected function means the newest code.
 */
#ifndef USPL_RECORD_OVERLAY_H
#define USPL_RECORD_OVERLAY_H

#include "image/image.h"
#include "proc/module.h"
#include "record/probe_records.h"
#include "record/region.h"

/*
 * Adds the code, the constants and the redirections of all live regions of the module that begins
 * at `module` to its image; regions are in their order, oldest first.
 */
int overlay_add(struct image *image, const struct proc *proc, const region_vec *regions,
		taddr module, struct uspl_err *err) uspl_must_check;

/*
 * The other way round: gives the image the bytes that were at the entries before these updates,
 * which are then as if they weren't there.
 */
void overlay_leave_out(struct image *image, const region_vec *regions);

/*
 * A module's image with all that updates have added, and without the jumps of the tracer and of
 * markers; image_free frees it.
 */
int overlay_image(const struct proc *proc, const struct module *module, struct image **ret,
		  struct uspl_err *err) uspl_must_check;

/*
 * A module's image as its program has it: without any jumps, and without what updates have added;
 * image_free frees it.
 */
int overlay_bare_image(const struct proc *proc, const struct module *module,
		       const region_vec *updates, const struct marks *marks, struct image **ret,
		       struct uspl_err *err) uspl_must_check;

/* True if addr lies in the region's new code or data. */
bool overlay_holds(const struct region *region, taddr addr);

#endif
