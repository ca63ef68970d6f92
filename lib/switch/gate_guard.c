// SPDX-License-Identifier: GPL-3.0-or-later
// gate_guard.c - where in gates and pads a thread is on its way to code that must be empty

#include "safety/clear.h"
#include "switch/gate.h"

/* Gates are left within nanoseconds, unless a thread is preempted there. */
#define CLEAR_TRIES 3

/* Without gates a pad leads straight to the new code. */
static int guard_pad(struct safety *safety, const struct region_site *site,
		     const struct region_site *owner, struct uspl_err *err)
{
	return owner->pad_len
		       ? safety_add(safety, site->name, owner->pad, owner->pad_len, false, err)
		       : 0;
}

static int guard_own(struct safety *safety, const struct region *region,
		     const struct region_site *site, bool to_old, struct uspl_err *err)
{
	const struct gate_part *parts = to_old ? gate_old_parts : gate_new_parts;
	taddr at = gate_address(region, site);
	int rc = 0;

	if (!region->gates)
		return to_old ? 0 : guard_pad(safety, site, site, err);
	for (size_t i = 0; !rc && i < GATE_N_PARTS; i++)
		rc = safety_add(safety, site->name, at + parts[i].start,
				(uint64_t)(parts[i].end - parts[i].start), false, err);
	for (size_t i = 0; !rc && i < GATE_N_EITHER; i++)
		rc = safety_add(safety, site->name, at + gate_either_parts[i].start,
				(uint64_t)(gate_either_parts[i].end - gate_either_parts[i].start),
				false, err);
	return rc;
}

/* Gates and pads of other regions at this site's entry, which may be such a pad itself. */
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
			bool same = theirs->addr == site->addr, over = theirs->pad == site->addr;

			if (!rc && other->gates && (same || (over && theirs->pad_len)))
				rc = safety_add(safety, site->name, gate_address(other, theirs),
						GATE_LEN, false, err);
			if (!rc && same)
				rc = guard_pad(safety, site, theirs, err);
		}
	}
	return rc;
}

int gates_guard(struct safety *safety, const struct region *region, const region_vec *present,
		bool to_old, struct uspl_err *err)
{
	const struct region_site *site;
	int rc = 0;

	vec_for_each (&region->sites, site) {
		rc = rc ? rc : guard_own(safety, region, site, to_old, err);
		rc = rc ? rc : guard_others(safety, region, site, present, err);
	}
	return rc;
}

static int add_ways(const struct region *region, struct safety *ret, struct uspl_err *err)
{
	const struct region_site *site;
	int rc = safety_add(ret, "gates", region->gates, region->gates_len, false, err);

	vec_for_each (&region->sites, site)
		if (!rc && site->pad_len)
			rc = safety_add(ret, "pads", site->pad, site->pad_len, false, err);
	safety_seal(ret);
	return rc;
}

bool gates_are_left(const struct proc *proc, const struct region *region, struct unwinder *unwinder)
{
	struct clear clear = { .text.proc = proc, .agents.proc = proc };
	bool left = false;

	clear.text.unwinder = clear.agents.unwinder = unwinder;
	if (add_ways(region, &clear.text, NULL) == 0)
		for (int i = 0; i < CLEAR_TRIES && !left; i++)
			left = clear_look(&clear, NULL) == 0 && !clear.in_text;
	safety_release(&clear.text);
	return left;
}
