// SPDX-License-Identifier: GPL-3.0-or-later
// gate_word.c - the word that a region's gates read, and the one that decides for it
/*
 * A word is OLD or NEW by itself as long as nobody switches. For the switch of several regions all
 * words but one are FOLLOW: these gates do what the one word says, so that one compare-and-swap
 * switches all. Where that word is, stands beside the gates' own; a gate reads it only if its own
 * word is neither OLD nor NEW.
 */

#include <inttypes.h>
#include <stddef.h>

#include "safety/stack.h"
#include "switch/gate.h"

#define VALUE offsetof(struct uspl_word, value)
#define DECIDER offsetof(struct uspl_word, decider)

int gates_write_word(const struct proc *proc, const struct region *region,
		     enum uspl_word_value value, struct uspl_err *err)
{
	uint8_t byte = (uint8_t)value;

	return region->word ? proc_write(proc, region->word + VALUE, &byte, sizeof(byte), err) : 0;
}

/*
 * Where a verdict stands beside a hold, the word is as good as what that says: who waits makes it
 * so.
 */
static uint8_t word_says(const uint8_t both[2])
{
	bool said = both[0] & USPL_WORD_HOLD && both[1] & USPL_VERDICT_OLD;

	return said ? both[1] & USPL_WORD_NEW : both[0] & ~USPL_WORD_DRAIN;
}

int gates_read_word(const struct proc *proc, const struct region *region, struct gate_word *ret,
		    struct uspl_err *err)
{
	struct uspl_word word;
	uint8_t both[2];
	bool follows;
	int rc = proc_read(proc, region->word, &word, sizeof(word), err);

	if (rc)
		return rc;
	both[0] = word.value;
	both[1] = word.verdict;
	follows = word.value == USPL_WORD_FOLLOW;
	if (follows)
		rc = proc_read(proc, word.decider + VALUE, both, sizeof(both), err);
	if (!rc)
		*ret = (struct gate_word){ word_says(both), follows, word.decider };
	return rc;
}

int gates_end_verdict(const struct proc *proc, const struct region *region, struct uspl_err *err)
{
	uint8_t both[2];
	int rc = proc_read(proc, region->word + VALUE, both, sizeof(both), err);

	return rc || word_says(both) == both[0]
		       ? rc
		       : gates_write_word(proc, region, word_says(both), err);
}

/*
 * Whoever has read another address of a decider, long ago, and was put off the processor before he
 * read what lies there, would go by a word that decides nothing any more.
 */
int gates_set_decider(const struct proc *proc, const struct region *region, taddr decider,
		      struct unwinder *unwinder, struct uspl_err *err)
{
	struct gate_word now;
	int rc = gates_read_word(proc, region, &now, err);

	if (rc || now.decider == decider)
		return rc;
	if (now.follows || (now.decider && !gates_are_left(proc, region, unwinder)))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "gates at 0x%" PRIx64 " may still go by another word",
				 region->gates);
	return proc_write(proc, region->word + DECIDER, &decider, sizeof(decider), err);
}

/* Its pointer may lead there, and somebody may have read it. */
static bool goes_by(const struct proc *proc, const module_vec *modules, const struct region *region,
		    taddr decider)
{
	struct unwinder *unwinder;
	struct gate_word word;
	bool left;

	if (gates_read_word(proc, region, &word, NULL) != 0)
		return true;
	if (word.decider != decider)
		return false;
	if (word.follows || stack_unwinder_new(proc, modules, &unwinder, NULL) != 0)
		return true;
	left = gates_are_left(proc, region, unwinder);
	unwinder_free(unwinder);
	return !left;
}

bool gates_go_by(const struct proc *proc, const module_vec *modules, const region_vec *regions,
		 const struct region *decider)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (decider->word && region->gates && region->self != decider->self &&
		    goes_by(proc, modules, region, decider->word))
			return true;
	return false;
}

bool gates_rest(const struct proc *proc, const struct region *region)
{
	const struct region_site *site;
	struct gate_word word;

	vec_for_each (&region->sites, site)
		if (gates_entry(proc, region, site) != GATE_ENTRY_OLD)
			return false;
	return !region->gates || (gates_read_word(proc, region, &word, NULL) == 0 &&
				  word.value == USPL_WORD_OLD && !word.follows);
}
