// SPDX-License-Identifier: GPL-3.0-or-later
// stopless_entries.c - entries, records and following selectors, around a stopless switch
/*
 * Each step is taken for all modules before the next one is, so that a tool that dies leaves them
 * in one of these states, in this order:
 *
 *     some records say SWITCHING, and nothing leads to a trampoline
 *     all records say SWITCHING; some selectors FOLLOW one that says what they
 *       have said, some entries lead to trampolines
 *     the one selector has been swapped, or not
 *     some selectors say by themselves what the one selector says; some entries are direct
 *     all are; some records say that it is done
 */

#include "base/log.h"
#include "proc/module.h"
#include "switch/stopless.h"

static enum entry_form entry_of(enum uspl_selector_value selector)
{
	return selector == USPL_SELECTOR_OLD ? ENTRY_ORIGINAL : ENTRY_DIRECT;
}

/* The program itself stays as long as the process does; a library may be unloaded. */
void stopless_choose_leader(struct stopless *stopless)
{
	const struct module *program = module_main(stopless->t->modules);
	const struct stopless_part *part;
	struct trampoline_selector selector;

	stopless->leader = stopless->parts.items[0].region;
	vec_for_each (&stopless->parts, part)
		if (program && part->region->module == program->start)
			stopless->leader = part->region;
	if (stopless->t->planned)
		return;
	/* What a dead tool has begun goes on as it was. */
	vec_for_each (&stopless->parts, part) {
		const struct stopless_part *other;

		if (trampolines_read_selector(stopless->t->proc, part->region, &selector, NULL) !=
			    0 ||
		    !selector.follows)
			continue;
		vec_for_each (&stopless->parts, other)
			if (other->region->selector == selector.leader)
				stopless->leader = other->region;
	}
}

/* True if some entry has that form. */
static bool any_entry(const struct stopless *stopless, enum entry_form entry)
{
	const struct region_site *site;
	const struct stopless_part *part;

	vec_for_each (&stopless->parts, part)
		vec_for_each (&part->region->sites, site)
			if (trampolines_entry_form(stopless->t->proc, part->region, site) == entry)
				return true;
	return false;
}

/* True if all trampolines lead there. */
static bool all_selectors(const struct stopless *stopless, enum uspl_selector_value value)
{
	const struct stopless_part *part;
	struct trampoline_selector selector;

	vec_for_each (&stopless->parts, part)
		if (trampolines_read_selector(stopless->t->proc, part->region, &selector, NULL) !=
			    0 ||
		    selector.value != value)
			return false;
	return true;
}

/* True where threads go over one by one: all trampolines go by that, and all entries by them. */
static bool find_by_thread(struct stopless *stopless)
{
	struct trampoline_selector selector;

	if (trampolines_read_selector(stopless->t->proc, stopless->leader, &selector, NULL) != 0 ||
	    !(selector.value & USPL_SELECTOR_BY_THREAD) ||
	    !all_selectors(stopless, selector.value) || any_entry(stopless, ENTRY_ORIGINAL) ||
	    any_entry(stopless, ENTRY_DIRECT) || any_entry(stopless, ENTRY_ALIEN))
		return false;
	stopless->settled = selector.value & ~USPL_SELECTOR_HOLD;
	stopless->run->by_thread = true;
	return true;
}

int stopless_check_selectors(struct stopless *stopless, struct uspl_err *err)
{
	enum uspl_selector_value from = stopless_value_from(stopless),
				 to = stopless_value_to(stopless);

	if (find_by_thread(stopless))
		return 0;
	if (all_selectors(stopless, from) && !any_entry(stopless, entry_of(to)))
		return 0;
	stopless->run->switched = all_selectors(stopless, to) &&
				  !any_entry(stopless, entry_of(from)) &&
				  !any_entry(stopless, ENTRY_ALIEN);
	if (stopless->run->switched)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "an interrupted switch has left entries of both kinds");
}

static int write_states(const struct stopless *stopless, enum uspl_region_state state,
			struct uspl_err *err)
{
	const struct stopless_part *part;
	int rc = 0;

	vec_for_each (&stopless->parts, part) {
		rc = region_write_state(stopless->t->proc, part->region, state, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The selectors that don't decide. */
static int write_selectors(const struct stopless *stopless, enum uspl_selector_value value,
			   struct uspl_err *err)
{
	const struct stopless_part *part;
	int rc = 0;

	vec_for_each (&stopless->parts, part)
		if (part->region != stopless->leader) {
			rc = trampolines_write_selector(stopless->t->proc, part->region, value,
							err);
			if (rc)
				return rc;
		}
	return 0;
}

static int arm_entries(const struct stopless *stopless, enum entry_form to, struct uspl_err *err)
{
	const struct stopless_part *part;
	int rc = 0;

	vec_for_each (&stopless->parts, part) {
		rc = trampolines_arm(stopless->t->proc, stopless->t->modules, part->region, to,
				     err);
		if (rc)
			return rc;
	}
	return 0;
}

int stopless_arm(struct stopless *stopless, struct uspl_err *err)
{
	bool on = stopless->t->direction == TRANSITION_ON;
	const struct stopless_part *part;
	int rc;

	if (stopless->armed && !stopless->arm_again)
		return 0;
	stopless->arm_again = false;
	rc = trampolines_end_commit(stopless->t->proc, stopless->leader, err);
	if (rc)
		return rc;
	vec_for_each (&stopless->parts, part) {
		rc = trampolines_set_leader(stopless->t->proc, part->region,
					    stopless->leader->selector,
					    stopless->run->safety.unwinder, err);
		if (rc)
			return rc;
	}
	stopless->armed = true;
	rc = write_states(stopless, on ? USPL_REGION_SWITCHING_ON : USPL_REGION_SWITCHING_OFF, err);
	if (rc)
		return rc;
	rc = write_selectors(stopless, USPL_SELECTOR_FOLLOW, err);
	if (rc)
		return rc;
	return arm_entries(stopless, ENTRY_TRAMPOLINE, err);
}

bool stopless_is_still_armed(struct stopless *stopless)
{
	const struct proc *proc = stopless->t->proc;
	struct trampoline_selector selector;
	const struct stopless_part *part;
	bool interrupted = false;

	vec_for_each (&stopless->parts, part)
		interrupted |= part->before == USPL_REGION_SWITCHING_ON ||
			       part->before == USPL_REGION_SWITCHING_OFF;
	if (!interrupted)
		return true;
	stopless->arm_again |= any_entry(stopless, ENTRY_ORIGINAL) ||
			       any_entry(stopless, ENTRY_DIRECT) ||
			       any_entry(stopless, ENTRY_ALIEN);
	return !stopless->arm_again &&
	       trampolines_read_selector(proc, stopless->leader, &selector, NULL) == 0 &&
	       (selector.value & ~USPL_SELECTOR_HOLD) == stopless->settled;
}

int stopless_take_back(struct stopless *stopless, struct uspl_err *err)
{
	enum uspl_selector_value from = stopless_value_from(stopless);
	const struct stopless_part *part;
	bool loaded = false, left = true;
	int rc = write_selectors(stopless, from, err);

	if (rc)
		return rc;
	rc = arm_entries(stopless, entry_of(from), err);
	if (rc)
		return rc;
	vec_for_each (&stopless->parts, part)
		loaded |= part->before == USPL_REGION_LOADED;
	/* No thread may be on its way through any trampoline: each may read another's selector. */
	vec_for_each (&stopless->parts, part)
		left = left && (!loaded || trampolines_are_left(stopless->t->proc, part->region,
								stopless->run->safety.unwinder));
	vec_for_each (&stopless->parts, part) {
		enum uspl_region_state state = part->before;

		if (state == USPL_REGION_LOADED && !left)
			state = USPL_REGION_UNDONE;
		rc = region_write_state(stopless->t->proc, part->region, state, err);
		if (rc)
			return rc;
	}
	return 0;
}

int stopless_finalize(struct stopless *stopless, struct uspl_err *err)
{
	bool on = stopless->t->direction == TRANSITION_ON;
	struct uspl_err why = { 0 };
	/* Where the stop-all way has taken over at once there is no leader. */
	int rc = stopless->leader ? trampolines_end_commit(stopless->t->proc, stopless->leader, err)
				  : 0;

	if (rc)
		return rc;
	rc = write_selectors(stopless, stopless_value_to(stopless), err);
	if (rc)
		return rc;
	rc = arm_entries(stopless, entry_of(stopless_value_to(stopless)), &why);
	/*
	 * The way through the trampolines leads to the new code, too. Old code has to be restored,
	 * and a trampoline that would lead back to replaced code is to be left for good.
	 */
	if (rc && (!on || stopless->t->n_replaced)) {
		*err = why;
		return rc;
	}
	if (rc)
		log_info("stopless", "entries keep the way through the trampolines: %s", why.msg);
	/* With replaced updates the records follow in their order (replaced.h). */
	if (stopless->t->n_replaced)
		return 0;
	return write_states(stopless, on ? USPL_REGION_APPLIED : USPL_REGION_UNDONE, err);
}
