// SPDX-License-Identifier: GPL-3.0-or-later
// trampolines_selector.c - the selector that a region's trampolines read, and the one that decides
// for it
/*
 * A selector is OLD or NEW by itself as long as no tool switches. For the switch of several regions
 * all selectors but one are FOLLOW: these trampolines do what the one selector says, so that one
 * compare-and-swap switches all. The address of that selector stands beside the trampolines' own; a
 * trampoline reads it only if its own selector is neither OLD nor NEW.
 */

#include <inttypes.h>
#include <stddef.h>

#include "safety/stack.h"
#include "switch/trampolines.h"

#define VALUE offsetof(struct uspl_selector, value)
#define LEADER offsetof(struct uspl_selector, leader)

int trampolines_write_selector(const struct proc *proc, const struct region *region,
			       enum uspl_selector_value value, struct uspl_err *err)
{
	uint8_t byte = (uint8_t)value;

	return region->selector
		       ? proc_write(proc, region->selector + VALUE, &byte, sizeof(byte), err)
		       : 0;
}

/*
 * Where a commit byte stands beside a hold, the selector means what that says: a thread that waits
 * makes it so.
 */
static uint8_t selector_says(const uint8_t both[2])
{
	bool said = both[0] & USPL_SELECTOR_HOLD && both[1] & USPL_COMMIT_SAID;

	return said ? both[1] & ~USPL_COMMIT_SAID : both[0] & ~USPL_SELECTOR_DRAIN;
}

int trampolines_read_selector(const struct proc *proc, const struct region *region,
			      struct trampoline_selector *ret, struct uspl_err *err)
{
	struct uspl_selector selector;
	uint8_t both[2];
	bool follows;
	int rc = proc_read(proc, region->selector, &selector, sizeof(selector), err);

	if (rc)
		return rc;
	both[0] = selector.value;
	both[1] = selector.commit;
	follows = selector.value == USPL_SELECTOR_FOLLOW;
	if (follows) {
		rc = proc_read(proc, selector.leader + VALUE, both, sizeof(both), err);
		if (rc)
			return rc;
	}
	*ret = (struct trampoline_selector){ selector_says(both), follows, selector.leader };
	return 0;
}

bool trampolines_by_thread(const struct proc *proc, const struct region *region, size_t *ret_left)
{
	struct uspl_slot slots[USPL_SLOTS_MAX];
	struct trampoline_selector selector;
	size_t n = 0;
	taddr at;

	if (!region->by_thread || !region->selector ||
	    trampolines_read_selector(proc, region, &selector, NULL) != 0 ||
	    !(selector.value & USPL_SELECTOR_BY_THREAD))
		return false;
	if (!ret_left)
		return true;
	at = (selector.follows ? selector.leader : region->selector) + USPL_SLOTS_AT +
	     (selector.value & USPL_SELECTOR_SECOND ? USPL_SLOTS_LEN : 0);
	if (proc_read_some(proc, at, slots, sizeof(slots)) == sizeof(slots))
		for (size_t i = 0; i < USPL_SLOTS_MAX && slots[i].high; i++)
			n += slots[i].thread != 0;
	*ret_left = n;
	return true;
}

int trampolines_end_commit(const struct proc *proc, const struct region *region,
			   struct uspl_err *err)
{
	uint8_t both[2];
	int rc = proc_read(proc, region->selector + VALUE, both, sizeof(both), err);

	return rc || selector_says(both) == both[0]
		       ? rc
		       : trampolines_write_selector(proc, region, selector_says(both), err);
}

/*
 * A thread that read another address of a leader, long ago, and lost the processor before it read
 * what lies there, would go by a selector that decides nothing any more.
 */
int trampolines_set_leader(const struct proc *proc, const struct region *region, taddr leader,
			   struct unwinder *unwinder, struct uspl_err *err)
{
	struct trampoline_selector now;
	int rc = trampolines_read_selector(proc, region, &now, err);

	if (rc || now.leader == leader)
		return rc;
	if (now.follows || (now.leader && !trampolines_are_left(proc, region, unwinder)))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "trampolines at 0x%" PRIx64 " may still go by another selector",
				 region->trampolines);
	return proc_write(proc, region->selector + LEADER, &leader, sizeof(leader), err);
}

/* The region's pointer may lead there, and a thread may have read it. */
static bool goes_by(const struct proc *proc, const module_vec *modules, const struct region *region,
		    taddr leader)
{
	struct unwinder *unwinder;
	struct trampoline_selector selector;
	bool left;

	if (trampolines_read_selector(proc, region, &selector, NULL) != 0)
		return true;
	if (selector.leader != leader)
		return false;
	if (selector.follows || stack_unwinder_new(proc, modules, &unwinder, NULL) != 0)
		return true;
	left = trampolines_are_left(proc, region, unwinder);
	unwinder_free(unwinder);
	return !left;
}

bool trampolines_go_by(const struct proc *proc, const module_vec *modules,
		       const region_vec *regions, const struct region *leader)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (leader->selector && region->trampolines && region->self != leader->self &&
		    goes_by(proc, modules, region, leader->selector))
			return true;
	return false;
}

bool trampolines_rest(const struct proc *proc, const struct region *region)
{
	const struct region_site *site;
	struct trampoline_selector selector;

	vec_for_each (&region->sites, site)
		if (trampolines_entry_form(proc, region, site) != ENTRY_ORIGINAL)
			return false;
	return !region->trampolines ||
	       (trampolines_read_selector(proc, region, &selector, NULL) == 0 &&
		selector.value == USPL_SELECTOR_OLD && !selector.follows);
}
