// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_entries.c - entries, records and following words, around a quiet switch
/*
 * Each step is taken for all modules before the next one is, so that a tool that dies leaves them
 * in one of these, in this order:
 *
 *     some records say SWITCHING, and nothing leads to a gate
 *     all records say SWITCHING; some words FOLLOW one that says what they have said, some entries
 *     lead to gates
 *     the one word has been swapped, or not
 *     some words say by themselves what the one word says; some entries are straight
 *     all are; some records say that it is done
 */

#include "base/log.h"
#include "proc/module.h"
#include "switch/quiet.h"

static enum gate_entry entry_of(enum uspl_word_value word)
{
	return word == USPL_WORD_OLD ? GATE_ENTRY_OLD : GATE_ENTRY_NEW;
}

/* The program itself stays as long as the process does; a library may be unloaded. */
void quiet_choose_decider(struct quiet *quiet)
{
	const struct module *program = module_main(quiet->t->modules);
	const struct quiet_part *part;
	struct gate_word word;

	quiet->decider = quiet->parts.items[0].region;
	vec_for_each (&quiet->parts, part)
		if (program && part->region->module == program->start)
			quiet->decider = part->region;
	if (quiet->t->planned)
		return;
	/* What a dead tool has begun goes on as it was. */
	vec_for_each (&quiet->parts, part) {
		const struct quiet_part *other;

		if (gates_read_word(quiet->t->proc, part->region, &word, NULL) != 0 ||
		    !word.follows)
			continue;
		vec_for_each (&quiet->parts, other)
			if (other->region->word == word.decider)
				quiet->decider = other->region;
	}
}

/* True if some entry is so. */
static bool any_entry(const struct quiet *quiet, enum gate_entry entry)
{
	const struct region_site *site;
	const struct quiet_part *part;

	vec_for_each (&quiet->parts, part)
		vec_for_each (&part->region->sites, site)
			if (gates_entry(quiet->t->proc, part->region, site) == entry)
				return true;
	return false;
}

/* True if all gates lead there. */
static bool all_words(const struct quiet *quiet, enum uspl_word_value value)
{
	const struct quiet_part *part;
	struct gate_word word;

	vec_for_each (&quiet->parts, part)
		if (gates_read_word(quiet->t->proc, part->region, &word, NULL) != 0 ||
		    word.value != value)
			return false;
	return true;
}

int quiet_check_words(struct quiet *quiet, struct uspl_err *err)
{
	enum uspl_word_value from = quiet_word_from(quiet), to = quiet_word_to(quiet);

	if (all_words(quiet, from) && !any_entry(quiet, entry_of(to)))
		return 0;
	quiet->run->switched = all_words(quiet, to) && !any_entry(quiet, entry_of(from)) &&
			       !any_entry(quiet, GATE_ENTRY_ALIEN);
	if (quiet->run->switched)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "an interrupted switch has left entries of both kinds");
}

static int write_states(const struct quiet *quiet, enum uspl_region_state state,
			struct uspl_err *err)
{
	const struct quiet_part *part;
	int rc = 0;

	vec_for_each (&quiet->parts, part)
		rc = rc ? rc : region_write_state(quiet->t->proc, part->region, state, err);
	return rc;
}

/* Of those that don't decide. */
static int write_words(const struct quiet *quiet, enum uspl_word_value value, struct uspl_err *err)
{
	const struct quiet_part *part;
	int rc = 0;

	vec_for_each (&quiet->parts, part)
		if (!rc && part->region != quiet->decider)
			rc = gates_write_word(quiet->t->proc, part->region, value, err);
	return rc;
}

static int set_deciders(const struct quiet *quiet, struct uspl_err *err)
{
	const struct quiet_part *part;
	int rc = 0;

	vec_for_each (&quiet->parts, part)
		rc = rc ? rc
			: gates_set_decider(quiet->t->proc, part->region, quiet->decider->word,
					    quiet->run->safety.unwinder, err);
	return rc;
}

static int lead_entries(const struct quiet *quiet, enum gate_entry to, struct uspl_err *err)
{
	const struct quiet_part *part;
	int rc = 0;

	vec_for_each (&quiet->parts, part)
		rc = rc ? rc : gates_lead(quiet->t->proc, quiet->t->modules, part->region, to, err);
	return rc;
}

int quiet_lead(struct quiet *quiet, struct uspl_err *err)
{
	bool on = quiet->t->direction == TRANSITION_ON;
	int rc;

	if (quiet->led && !quiet->lead_again)
		return 0;
	quiet->lead_again = false;
	rc = gates_end_verdict(quiet->t->proc, quiet->decider, err);
	if (!rc)
		rc = set_deciders(quiet, err);
	if (rc)
		return rc;
	quiet->led = true;
	rc = write_states(quiet, on ? USPL_REGION_SWITCHING_ON : USPL_REGION_SWITCHING_OFF, err);
	if (!rc)
		rc = write_words(quiet, USPL_WORD_FOLLOW, err);
	return rc ? rc : lead_entries(quiet, GATE_ENTRY_GATE, err);
}

static bool was_interrupted(const struct quiet *quiet)
{
	const struct quiet_part *part;

	vec_for_each (&quiet->parts, part)
		if (part->before == USPL_REGION_SWITCHING_ON ||
		    part->before == USPL_REGION_SWITCHING_OFF)
			return true;
	return false;
}

bool quiet_is_still_led(struct quiet *quiet)
{
	const struct proc *proc = quiet->t->proc;
	struct gate_word word;

	if (!was_interrupted(quiet))
		return true;
	quiet->lead_again |= any_entry(quiet, GATE_ENTRY_OLD) || any_entry(quiet, GATE_ENTRY_NEW) ||
			     any_entry(quiet, GATE_ENTRY_ALIEN);
	return !quiet->lead_again && gates_read_word(proc, quiet->decider, &word, NULL) == 0 &&
	       (word.value & ~USPL_WORD_HOLD) == (int)quiet_word_from(quiet);
}

/* True if no thread is on its way through any of the gates: each may read another's word. */
static bool are_left(const struct quiet *quiet)
{
	const struct quiet_part *part;

	vec_for_each (&quiet->parts, part)
		if (!gates_are_left(quiet->t->proc, part->region, quiet->run->safety.unwinder))
			return false;
	return true;
}

static bool was_loaded(const struct quiet *quiet)
{
	const struct quiet_part *part;

	vec_for_each (&quiet->parts, part)
		if (part->before == USPL_REGION_LOADED)
			return true;
	return false;
}

int quiet_take_back(struct quiet *quiet, struct uspl_err *err)
{
	enum uspl_word_value from = quiet_word_from(quiet);
	const struct quiet_part *part;
	bool stay;
	int rc = write_words(quiet, from, err);

	if (!rc)
		rc = lead_entries(quiet, entry_of(from), err);
	stay = !rc && was_loaded(quiet) && !are_left(quiet);
	vec_for_each (&quiet->parts, part) {
		enum uspl_region_state state = part->before;

		if (state == USPL_REGION_LOADED && stay)
			state = USPL_REGION_UNDONE;
		rc = rc ? rc : region_write_state(quiet->t->proc, part->region, state, err);
	}
	return rc;
}

int quiet_settle(struct quiet *quiet, struct uspl_err *err)
{
	bool on = quiet->t->direction == TRANSITION_ON;
	struct uspl_err why = { 0 };
	/* Where the full stop has taken over at once there is none. */
	int rc = quiet->decider ? gates_end_verdict(quiet->t->proc, quiet->decider, err) : 0;

	if (!rc)
		rc = write_words(quiet, quiet_word_to(quiet), err);
	if (rc)
		return rc;
	rc = lead_entries(quiet, entry_of(quiet_word_to(quiet)), &why);
	/* The way through the gates leads to the new code, too. Old code has to be itself again. */
	if (rc && on)
		log_info("quiet", "entries keep the way through the gates: %s", why.msg);
	else if (rc)
		*err = why;
	if (rc && !on)
		return rc;
	return write_states(quiet, on ? USPL_REGION_APPLIED : USPL_REGION_UNDONE, err);
}
