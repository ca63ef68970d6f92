/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slot.h - where an update's jump lies while its function is traced
 *
 * A function that is traced and patched carries two marks. The tracer's is the outer one: its jump
 * is at the entry. The update's is in the slot that the traced function's body begins with: a NOP, or
 * the jump to the new code. docs/trace.md, "Two owners", has all states.
 *
 * The update's record speaks of the entry in any case. So it needs no change when the tracer comes
 * or goes; where the jump is now is seen from what stands at the entry.
 */
#ifndef USPL_LIVE_SLOT_H
#define USPL_LIVE_SLOT_H

#include "live/region.h"
#include "live/traced.h"

/* Makes the sites of all regions say where their jumps are: for regions_read. */
int slots_place(const struct proc *proc, region_vec *regions, struct uspl_err *err) uspl_must_check;
/*
 * A new site that says what was read at the entry (addr, old_bytes): if the function is traced, it
 * says afterwards what the program or an older update has there, and where its own jump is to go.
 */
int slot_adopt(const struct proc *proc, const struct trace_session *session,
	       struct region_site *site, struct uspl_err *err) uspl_must_check;
/* The site as its record has it; its strings are still those of `site`. */
void slot_take_home(const struct region_site *site, struct region_site *ret);
/*
 * What the entry of a function that is traced would hold without the tracer: the program's own
 * bytes, or the jump that is in the slot.
 */
int slot_entry_bytes(const struct proc *proc, const struct uspl_trace_site *site,
		     uint8_t ret[USPL_TRACE_SITE_BYTES], struct uspl_err *err) uspl_must_check;
/*
 * Gives the image of a module the bytes that the program itself has where updates have their jumps.
 * The process isn't traced.
 */
void slots_lay_under(const region_vec *regions, struct image *image);

#endif
