/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chain_slot.h - where an update's jump lies while its function is traced, or has probes
 *
 * A function that is traced, has probes and is patched carries three marks, one behind the other.
 * The tracer's is the outer one: its jump is at the entry, and leads on by the chain slot that the
 * traced function's body begins with. Behind it come probes (uspl/mark_abi.h): the last probe's
 * chain slot leads on. That *chain slot* holds what the function's entry would hold without them: a
 * NOP, or the jump to the last probe's end, where the function itself follows, or an update's jump
 * to its new code. docs/trace.md, "Owners of an entry", has all states.
 *
 * The update's record speaks of the entry in any case. So it needs no change when the others come
 * or go; what stands at the entry tells where the jump is now.
 */
#ifndef USPL_RECORD_CHAIN_SLOT_H
#define USPL_RECORD_CHAIN_SLOT_H

#include "record/probe_records.h"
#include "record/region.h"

/* Makes the sites of all regions say where their jumps are: for regions_read. */
int chain_slots_place(const struct proc *proc, region_vec *regions,
		      struct uspl_err *err) uspl_must_check;
/*
 * A new site that says what was read at the entry (addr, old_bytes): if the function is traced or
 * has probes, it says afterwards what the program or an older update has there, and where its own
 * jump is to go. USPL_E_BUSY if a switch that didn't come to its end has left merged NOPs there
 * (trace_records.h).
 */
int chain_slot_adopt(const struct proc *proc, const struct marks *marks, struct region_site *site,
		     struct uspl_err *err) uspl_must_check;
/* The site as its record has it; its strings are still those of `site`. */
void chain_slot_take_record(const struct region_site *site, struct region_site *ret);
/*
 * What the entry of a function that is traced would hold without the tracer: the program's own
 * bytes, or the jump that is in the slot.
 */
int chain_slot_entry_bytes(const struct proc *proc, const struct uspl_trace_site *site,
			   uint8_t ret[USPL_TRACE_SITE_BYTES],
			   struct uspl_err *err) uspl_must_check;
/*
 * Gives the image of a module the bytes that the program itself has where updates have their jumps:
 * at the entries at which no other owner has its jump.
 */
void chain_slots_unpatch_image(const region_vec *regions, struct image *image);

#endif
