// SPDX-License-Identifier: GPL-3.0-or-later
// slot.c - where an update's jump lies while its function is traced
/*
 * Bytes are carried over from the entry to the slot, and back, by what they mean: the program's own
 * bytes at the entry are the NOP in the slot; a jump is the jump to the same target.
 */

#include "live/slot.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"

enum { BYTES = USPL_TRACE_SITE_BYTES };

/* True if the site's entry holds the tracer's jump. */
static bool is_on(const struct proc *proc, const struct trace_region *region,
		  const struct uspl_trace_site *site)
{
	size_t i = (size_t)(site - region->sites.items);
	uint8_t have[BYTES];

	return proc_read_some(proc, site->entry, have, BYTES) == BYTES &&
	       arch_native()->jump_target(site->entry, have, BYTES) ==
		       region->head.thunks + i * USPL_TRACE_THUNK;
}

/* The traced function at an entry, NULL if there is none. */
static const struct uspl_trace_site *find_site(const struct proc *proc,
					       const struct trace_session *session, taddr entry)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region) {
		const struct uspl_trace_site *site = trace_region_site(region, entry);

		if (site && is_on(proc, region, site))
			return site;
	}
	return NULL;
}

/* The jump at `from`, carried to `to`; false if it is none, or out of reach there. */
static bool carry_jump(taddr from, const uint8_t *bytes, taddr to, uint8_t *ret)
{
	taddr target = arch_native()->jump_target(from, bytes, BYTES);

	return target && arch_native()->jump_encode(to, target, ret);
}

/* What entry bytes mean in the slot. */
static bool into_slot(const struct uspl_trace_site *slot, const uint8_t *bytes, uint8_t *ret)
{
	if (!memcmp(bytes, slot->old_bytes, BYTES))
		return arch_native()->nop_encode(ret, BYTES);
	return carry_jump(slot->entry, bytes, slot->body, ret);
}

static int fail_reach(const struct region_site *site, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "the new code of '%s' is out of reach of the tracer's", site->name);
}

/* The site says what its record has; makes it say where its jump is. */
static int place(const struct uspl_trace_site *slot, struct region_site *site, struct uspl_err *err)
{
	struct region_home home = { .addr = site->addr,
				    .entry = site->entry,
				    .pad = site->pad,
				    .pad_len = site->pad_len,
				    .body_len = slot->body_len };
	uint8_t old_bytes[BYTES];

	memcpy(home.old_bytes, site->old_bytes, sizeof(home.old_bytes));
	if (!into_slot(slot, site->old_bytes, old_bytes))
		return fail_reach(site, err);
	/* Where the new code is out of reach it leads to a pad. A site that is being made has none yet. */
	if (arch_native()->jump_target(site->addr, site->new_bytes, BYTES) &&
	    !carry_jump(site->addr, site->new_bytes, slot->body, site->new_bytes))
		return fail_reach(site, err);
	memcpy(site->old_bytes, old_bytes, BYTES);
	site->home = home;
	site->addr = slot->body;
	/* The slot lies in one word and is one instruction. */
	site->entry = USPL_ENTRY_STORE;
	return 0;
}

int slots_place(const struct proc *proc, region_vec *regions, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	struct region *region;
	int rc = regions->n ? session_read(proc, &session, err) : 0;

	vec_for_each (regions, region) {
		struct region_site *site;

		vec_for_each (&region->sites, site) {
			const struct uspl_trace_site *slot =
				rc || site->len != BYTES ? NULL
							 : find_site(proc, &session, site->addr);

			/* What isn't in effect may be out of reach by now. */
			if (slot && place(slot, site, err) && region_is_live(region))
				rc = -USPL_E_OUT_OF_REACH;
		}
	}
	return rc;
}

int slot_entry_bytes(const struct proc *proc, const struct uspl_trace_site *site,
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

int slot_adopt(const struct proc *proc, const struct trace_session *session,
	       struct region_site *site, struct uspl_err *err)
{
	const struct uspl_trace_site *slot = find_site(proc, session, site->addr);
	int rc;

	if (!slot || site->len != BYTES)
		return 0;
	rc = slot_entry_bytes(proc, slot, site->old_bytes, err);
	return rc ? rc : place(slot, site, err);
}

void slot_take_home(const struct region_site *site, struct region_site *ret)
{
	const struct region_home *home = &site->home;

	*ret = *site;
	if (!home->addr)
		return;
	ret->addr = home->addr;
	ret->entry = home->entry;
	ret->pad = home->pad;
	ret->pad_len = home->pad_len;
	memcpy(ret->old_bytes, home->old_bytes, sizeof(ret->old_bytes));
	/* Where it leads is within reach of the module, and so of both. */
	(void)carry_jump(site->addr, site->new_bytes, home->addr, ret->new_bytes);
	ret->home = (struct region_home){ 0 };
}

void slots_lay_under(const region_vec *regions, struct image *image)
{
	/* The newest first: the oldest one has found the program's own. */
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
