// SPDX-License-Identifier: GPL-3.0-or-later
// chain_slot.c - where an update's jump lies while its function is traced, or has probes
/*
 * Bytes are carried over from the entry to the slot, and back, by what they mean: the program's own
 * bytes at the entry are the NOP in the slot, or the jump to the last probe's end; another jump is
 * the jump to the same target.
 */

#include "record/chain_slot.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"

enum { BYTES = USPL_TRACE_SITE_BYTES };

/* The innermost place behind an entry's owners. */
struct chain_slot {
	taddr entry, addr;
	uint8_t own[BYTES];  /* what the program itself has at the entry, */
	uint8_t none[BYTES]; /* and what stands for that at addr */
	uint8_t body_len;    /* of the code from addr on, in which the function goes on */
};

/* The jump at `from`, carried to `to`; false if it is none, or out of reach there. */
static bool carry_jump(taddr from, const uint8_t *bytes, taddr to, uint8_t *ret)
{
	taddr target = arch_native()->jump_target(from, bytes, BYTES);

	return target && arch_native()->jump_encode(to, target, ret);
}

/* False if only updates stand at the entry. */
static bool find_chain_slot(const struct proc *proc, const struct marks *marks, taddr entry,
			    struct chain_slot *ret)
{
	const struct uspl_trace_site *traced = trace_session_site_on(proc, &marks->traced, entry);
	const struct uspl_probe *last = marks_last(proc, marks, entry);
	const struct arch *arch = arch_native();

	ret->entry = entry;
	if (last) {
		ret->addr = last->chain_slot;
		ret->body_len = (uint8_t)(last->code + last->code_len - last->chain_slot);
		memcpy(ret->own, last->old_bytes, BYTES);
		(void)arch->jump_encode(ret->addr, last->end, ret->none);
	} else if (traced) {
		ret->addr = traced->body;
		ret->body_len = traced->body_len;
		memcpy(ret->own, traced->old_bytes, BYTES);
		(void)arch->nop_encode(ret->none, BYTES);
	}
	return last || traced;
}

static int fail_reach(const struct region_site *site, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "the new code of '%s' is out of reach of what stands before it",
			 site->name);
}

/* The site says what its record has; makes it say where its jump is. */
static int place(const struct chain_slot *chain_slot, struct region_site *site,
		 struct uspl_err *err)
{
	struct region_recorded recorded = { .addr = site->addr,
					    .entry = site->entry,
					    .punned = site->punned,
					    .punned_len = site->punned_len,
					    .body_len = chain_slot->body_len };
	uint8_t old_bytes[BYTES];

	memcpy(recorded.old_bytes, site->old_bytes, sizeof(recorded.old_bytes));
	/* What entry bytes mean in the slot. */
	if (!memcmp(site->old_bytes, chain_slot->own, BYTES))
		memcpy(old_bytes, chain_slot->none, BYTES);
	else if (!carry_jump(chain_slot->entry, site->old_bytes, chain_slot->addr, old_bytes))
		return fail_reach(site, err);
	/*
	 * Where the new code is out of reach it leads to a punned trampoline. A site that is being
	 * made has none yet.
	 */
	if (arch_native()->jump_target(site->addr, site->new_bytes, BYTES) &&
	    !carry_jump(site->addr, site->new_bytes, chain_slot->addr, site->new_bytes))
		return fail_reach(site, err);
	memcpy(site->old_bytes, old_bytes, BYTES);
	site->recorded = recorded;
	site->addr = chain_slot->addr;
	/* A chain slot lies in one word and is one instruction. */
	site->entry = USPL_ENTRY_STORE;
	return 0;
}

int chain_slots_place(const struct proc *proc, region_vec *regions, struct uspl_err *err)
{
	auto_marks struct marks marks = { 0 };
	struct region *region;
	int rc = regions->n ? marks_read(proc, &marks, err) : 0;

	if (rc)
		return rc;
	vec_for_each (regions, region) {
		struct region_site *site;

		vec_for_each (&region->sites, site) {
			struct chain_slot chain_slot;

			/* The slot of an update that isn't in effect may be out of reach by now. */
			if (site->len == BYTES &&
			    find_chain_slot(proc, &marks, site->addr, &chain_slot) &&
			    place(&chain_slot, site, err) && region_is_live(region)) {
				rc = -USPL_E_OUT_OF_REACH;
				if (rc)
					return rc;
			}
		}
	}
	return 0;
}

int chain_slot_entry_bytes(const struct proc *proc, const struct uspl_trace_site *site,
			   uint8_t ret[BYTES], struct uspl_err *err)
{
	uint8_t have[BYTES], nop[BYTES];
	int rc = proc_read(proc, site->body, have, BYTES, err);

	if (rc)
		return rc;
	if (arch_native()->nop_encode(nop, BYTES) && !memcmp(have, nop, BYTES))
		memcpy(ret, site->old_bytes, BYTES);
	else if (!carry_jump(site->body, have, site->entry, ret))
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the tracer's code at 0x%" PRIx64 " of pid %d is damaged",
				 site->body, proc->pid);
	return 0;
}

int chain_slot_adopt(const struct proc *proc, const struct marks *marks, struct region_site *site,
		     struct uspl_err *err)
{
	struct chain_slot chain_slot;
	uint8_t have[BYTES], code[TRACE_NOPS_CODE];
	const struct uspl_trace_site *traced;
	size_t len = 0;
	int rc;

	if (site->len != BYTES || !find_chain_slot(proc, marks, site->addr, &chain_slot)) {
		traced = trace_session_site_at(&marks->traced, site->addr);
		if (traced)
			len = proc_read_some(proc, site->addr, code, sizeof(code));
		if (len < BYTES || !trace_site_is_merged(traced, code, len))
			return 0;
		uspl_fail(err, USPL_E_BUSY,
			  "the first bytes of '%s' are as a 'uspl-trace start' that didn't come to "
			  "its end has left them",
			  site->name);
		uspl_hint(err, "'uspl-trace stop %d' puts them back", proc->pid);
		return -USPL_E_BUSY;
	}
	rc = proc_read(proc, chain_slot.addr, have, BYTES, err);
	if (rc)
		return rc;
	if (!memcmp(have, chain_slot.none, BYTES))
		memcpy(site->old_bytes, chain_slot.own, BYTES);
	else if (!carry_jump(chain_slot.addr, have, site->addr, site->old_bytes))
		return fail_reach(site, err);
	return place(&chain_slot, site, err);
}

void chain_slot_take_record(const struct region_site *site, struct region_site *ret)
{
	const struct region_recorded *recorded = &site->recorded;

	*ret = *site;
	if (!recorded->addr)
		return;
	ret->addr = recorded->addr;
	ret->entry = recorded->entry;
	ret->punned = recorded->punned;
	ret->punned_len = recorded->punned_len;
	memcpy(ret->old_bytes, recorded->old_bytes, sizeof(ret->old_bytes));
	/* What the jump leads to is within reach of the module, and so of both places. */
	(void)carry_jump(site->addr, site->new_bytes, recorded->addr, ret->new_bytes);
	ret->recorded = (struct region_recorded){ 0 };
}

void chain_slots_unpatch_image(const region_vec *regions, struct image *image)
{
	/* The newest first: the old bytes of the oldest one are the program's own. */
	for (size_t i = regions->n; i--;) {
		const struct region *region = &regions->items[i];
		const struct region_site *site;

		vec_for_each (&region->sites, site) {
			/* The image is ours, and so are its bytes. */
			uint8_t *bytes = (uint8_t *)image_bytes(image, site->addr, site->len);

			if (bytes && region_is_live(region))
				memcpy(bytes, site->old_bytes, site->len);
		}
	}
}
