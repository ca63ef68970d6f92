// SPDX-License-Identifier: GPL-3.0-or-later
// trampolines_guard.c - where in trampolines and punned trampolines a thread is on its way to code
// that must be empty

#include "safety/drain.h"
#include "switch/trampolines.h"

/* Trampolines are left within nanoseconds, unless a thread is preempted there. */
#define DRAIN_TRIES 3

/* Without trampolines a punned trampoline leads straight to the new code. */
static int guard_punned(struct safety *safety, const struct region_site *site,
			const struct region_site *owner, struct uspl_err *err)
{
	return owner->punned_len ? safety_add(safety, site->name, owner->punned, owner->punned_len,
					      false, err)
				 : 0;
}

static int guard_own(struct safety *safety, const struct region *region,
		     const struct region_site *site, bool to_old, struct uspl_err *err)
{
	const struct trampoline_part *parts = to_old ? trampoline_old_parts : trampoline_new_parts;
	taddr at = trampoline_address(region, site);
	int rc = 0;

	if (!region->trampolines)
		return to_old ? 0 : guard_punned(safety, site, site, err);
	/* A thread that hasn't read the selector yet would go to what that was the way to. */
	if (trampoline_is_other(safety->proc, region, site))
		return safety_add(safety, site->name, at, trampoline_len(region->by_thread), false,
				  err);
	for (size_t i = 0; i < TRAMPOLINE_N_PARTS; i++) {
		rc = safety_add(safety, site->name, at + parts[i].start,
				(uint64_t)(parts[i].end - parts[i].start), false, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < TRAMPOLINE_N_EITHER; i++) {
		const struct trampoline_part *part = &trampoline_either_parts[region->by_thread][i];

		rc = safety_add(safety, site->name, at + part->start,
				(uint64_t)(part->end - part->start), false, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Trampolines and punned trampolines of other regions at this site's entry, which may be such a
 * punned trampoline itself.
 */
static int guard_others(struct safety *safety, const struct region *region,
			const struct region_site *site, const region_vec *present,
			struct uspl_err *err)
{
	const struct region_site *theirs;
	const struct region *other;
	int rc = 0;

	vec_for_each (present, other) {
		if (other->self == region->self)
			continue;
		vec_for_each (&other->sites, theirs) {
			bool same = theirs->addr == site->addr, over = theirs->punned == site->addr;

			if (!rc && other->trampolines && (same || (over && theirs->punned_len)))
				rc = safety_add(safety, site->name,
						trampoline_address(other, theirs),
						trampoline_len(other->by_thread), false, err);
			if (!rc && same)
				rc = guard_punned(safety, site, theirs, err);
		}
	}
	return rc;
}

int trampolines_guard(struct safety *safety, const struct region *region, const region_vec *present,
		      bool to_old, struct uspl_err *err)
{
	const struct region_site *site;
	int rc = 0;

	vec_for_each (&region->sites, site) {
		rc = guard_own(safety, region, site, to_old, err);
		if (rc)
			return rc;
		rc = guard_others(safety, region, site, present, err);
		if (rc)
			return rc;
	}
	return 0;
}

bool trampolines_are_left(const struct proc *proc, const struct region *region,
			  struct unwinder *unwinder)
{
	struct drain drain = { .text.proc = proc, .agents.proc = proc };
	const struct region_site *site;
	bool left = false;
	int rc;

	drain.text.unwinder = drain.agents.unwinder = unwinder;
	rc = safety_add(&drain.text, "trampolines", region->trampolines, region->trampolines_len,
			false, NULL);
	vec_for_each (&region->sites, site)
		if (!rc && site->punned_len)
			rc = safety_add(&drain.text, "punned trampolines", site->punned,
					site->punned_len, false, NULL);
	safety_seal(&drain.text);
	for (int i = 0; i < DRAIN_TRIES && !rc && !left; i++)
		left = drain_look(&drain, NULL) == 0 && !drain.in_text;
	safety_release(&drain.text);
	return left;
}
