/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text_poke.h - words of code that a thread of the target exchanges
 *
 * A store of an aligned word is one piece for every thread that runs through the code. But only a
 * thread of the target itself can be trusted to make it so, and only there it costs a nanosecond or
 * two. The code is made writable for it and back in the same run of the agent: a tool that dies
 * leaves the code protected as it was, with any number of words exchanged.
 */
#ifndef USPL_TEXT_TEXT_POKE_H
#define USPL_TEXT_TEXT_POKE_H

#include "inject/inject.h"
#include "text/site.h"

typedef VEC(struct inject_word) word_vec;

/* Without a table no more words than that are exchanged in one run. */
#define TEXT_POKE_FEW (INJECT_MAX - 2)
/*
 * With a table, the thread that exchanges them keeps its processor for so many at a time: 50 us, up
 * to ten times that if they are in no cache. A stop between two such slices takes 30. A thread that
 * runs stands still for all of a run, so it should get fewer.
 */
#define TEXT_POKE_SLICE 32768

struct text_poke {
	const struct proc *proc;
	word_vec items; /* to be exchanged, by address */
	/* Where their table is in the target, with room for all of them; 0: none. */
	taddr table;
	taddr result_page;          /* as in struct inject_choice */
	struct inject_agent *agent; /* the same, */
	pid_t sleeper;              /* and this, */
	const module_vec *modules;  /* and these */
};

/*
 * Takes the words that have to change for the sites of a checked plan. None of them is a site that
 * needs a stop (site_needs_stop).
 */
int text_poke_take(struct text_poke *poke, const struct site_plan *plan,
		   struct uspl_err *err) uspl_must_check;
/* Frees the words. */
void text_poke_release(struct text_poke *poke);
/* Writes the table: for words that are exchanged by one. */
int text_poke_write_table(const struct text_poke *poke, struct uspl_err *err) uspl_must_check;

/*
 * Exchanges n words from the one with index `first` on, while all threads run but the one that does
 * it. USPL_E_UNSUPPORTED: the code can't be made writable, and none is exchanged.
 * USPL_E_OVERWRITTEN: one has changed meanwhile, and any number of the others are exchanged.
 * USPL_E_BUG: they lie in a module that may be unloaded meanwhile (module.lasting), and none is
 * exchanged.
 */
int text_poke_exchange(const struct text_poke *poke, size_t first, size_t n,
		       struct uspl_err *err) uspl_must_check;

#endif
