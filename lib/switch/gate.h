/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.h - the gates of an update: planned, brought into the process, and led to
 *
 * docs/transition.md says what they are for. Those of one region. gate.c plans and loads them,
 * gate_lead.c changes what stands at the entries, gate_word.c reads and writes the word that they
 * read, gate_guard.c says where in them nobody may be.
 *
 *     gates_plan     nothing is touched: can each entry be led to a gate, and how?
 *                    (entries.h does it for some of them, while the update is loaded)
 *     gates_load     pads and gates lie in the target, the record says so; nothing leads there yet
 *     gates_lead     entries lead to their gates (GATE_ENTRY), or no longer do, one after another,
 *                    while the program runs; each step is of no consequence to it
 */
#ifndef USPL_SWITCH_GATE_H
#define USPL_SWITCH_GATE_H

#include "arch/trampoline.h"
#include "proc/module.h"
#include "record/region.h"
#include "safety/safety.h"
#include "text/pads.h"

#define GATES_SLATE_AT 1024ull /* in it, behind struct uspl_word: a slate for the agent */

/* How many bytes the gates of a region take, with the word's page. */
uint64_t gates_room(const struct region *region);
/* Says that they lie at that address. */
void gates_place(struct region *region, taddr at);
/*
 * Where a thread that works for us can leave its answers (inject.h); 0 if the region has no gates.
 */
taddr gates_slate(const struct region *region);
/* Takes over how entries were led to gates from the region whose place this one takes. */
void gates_take_over(struct region *region, const struct region *old);

/* What stands at an entry. */
enum gate_entry {
	GATE_ENTRY_OLD,  /* the bytes that were there before the update: the old function */
	GATE_ENTRY_GATE, /* a jump to the gate, perhaps by way of a pad */
	GATE_ENTRY_NEW,  /* a jump straight to the new function */
	GATE_ENTRY_ALIEN,
};

struct gate {
	struct region_site *site;
	uint8_t code[GATE_LEN];
};

struct gates {
	struct region *region;
	VEC(struct gate) items;
	struct pads pads; /* of those that are led to by a pun */
};

/*
 * A plan of nothing yet. region and modules must outlive the gates. On failure gates_release is to
 * be called all the same.
 */
int gates_open(struct gates *gates, const struct proc *proc, const module_vec *modules,
	       struct region *region, struct uspl_err *err) uspl_must_check;
/*
 * Plans the gate of one of the region's sites, and nothing that leads to it. USPL_E_UNSUPPORTED or
 * USPL_E_OUT_OF_REACH, saying why, if the function can't have one.
 */
int gates_add(struct gates *gates, struct region_site *site, struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_UNSUPPORTED or USPL_E_OUT_OF_REACH, saying why, if a function can't have a gate. region
 * and modules must outlive the gates. On failure gates_release is to be called all the same.
 */
int gates_plan(struct gates *gates, const struct proc *proc, const module_vec *modules,
	       struct region *region, struct uspl_err *err) uspl_must_check;
/*
 * Fails like gates_plan if a place has been taken meanwhile, or if other gates lie there already
 * that a thread may be in.
 */
int gates_load(struct gates *gates, struct uspl_err *err) uspl_must_check;
/* What stands at the site's entry now. */
enum gate_entry gates_entry(const struct proc *proc, const struct region *region,
			    const struct region_site *site);
/*
 * Makes all entries so. Entries that can't be changed while the program runs stay as they are if
 * that means the same (GATE_ENTRY_NEW from GATE_ENTRY_GATE); otherwise it is a failure.
 */
int gates_lead(const struct proc *proc, const module_vec *modules, struct region *region,
	       enum gate_entry to, struct uspl_err *err) uspl_must_check;
/* Frees the plan; nothing in the target. */
void gates_release(struct gates *gates);

/* Where the site's gate lies. */
taddr gate_address(const struct region *region, const struct region_site *site);
/*
 * A jump to a gate, in the bytes of a function's entry, becomes the jump to where the gate leads.
 * For an entry that is moved, while nobody switches: its gate would not be known in the new place.
 */
void gates_straighten(const region_vec *regions, taddr entry, uint8_t *bytes);
/* The bytes that lead the site's entry to its gate; false if the site has none. */
bool gates_jump(const struct region *region, const struct region_site *site,
		uint8_t bytes[USPL_SITE_BYTES_MAX]);
/* What a region's word says. */
struct gate_word {
	/*
	 * enum uspl_word_value, never FOLLOW: what the one says that decides; with a verdict beside
	 * a hold, what that says.
	 */
	uint8_t value;
	bool follows;  /* that is another region's */
	taddr decider; /* which one decides where it isn't OLD or NEW; 0: that never was so */
};

/* Reads the word, and the one that it follows. */
int gates_read_word(const struct proc *proc, const struct region *region, struct gate_word *ret,
		    struct uspl_err *err) uspl_must_check;
/*
 * A word that holds, with the verdict of a tool that has died beside it, says by itself what it is
 * as good as: before the verdict is forgotten.
 */
int gates_end_verdict(const struct proc *proc, const struct region *region,
		      struct uspl_err *err) uspl_must_check;
/* Writes the word from outside: only where nobody can be reading it for a switch of its own. */
int gates_write_word(const struct proc *proc, const struct region *region,
		     enum uspl_word_value value, struct uspl_err *err) uspl_must_check;
/*
 * Says which word decides where the region's own doesn't. USPL_E_UNSUPPORTED if it was another one
 * and a thread may still go by that.
 */
int gates_set_decider(const struct proc *proc, const struct region *region, taddr decider,
		      struct unwinder *unwinder, struct uspl_err *err) uspl_must_check;
/*
 * True if a thread in gates of one of these regions may be about to read the word of `decider`,
 * which has to stay then. Stops those that run for a moment, if these gates ever went by that word.
 */
bool gates_go_by(const struct proc *proc, const module_vec *modules, const region_vec *regions,
		 const struct region *decider);
/* True if nothing leads to the gates and the new code, whatever the region's state says. */
bool gates_rest(const struct proc *proc, const struct region *region);
/*
 * Adds to `safety` where a thread is in a region's gates on its way to old code (or new code), and
 * where it is in the gates and pads that other updates have left behind at the same entries: what
 * that leads to isn't decided by this update's word.
 */
int gates_guard(struct safety *safety, const struct region *region, const region_vec *present,
		bool to_old, struct uspl_err *err) uspl_must_check;
/*
 * Where nothing leads to a region's gates and pads any more: true if no thread is on its way
 * through one. Stops those that run for a moment. False too if that can't be told.
 */
bool gates_are_left(const struct proc *proc, const struct region *region,
		    struct unwinder *unwinder);

#endif
