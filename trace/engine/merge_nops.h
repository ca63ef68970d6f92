/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_nops.h - several NOPs at an entry are made one, so that a jump can take their place without
 * a stop
 */
#ifndef USPL_TRACE_ENGINE_MERGE_NOPS_H
#define USPL_TRACE_ENGINE_MERGE_NOPS_H

#include "safety/drain.h"
#include "text/text_poke.h"
#include "trace/engine/candidate.h"
#include "uspl/trace_abi.h"

struct patch_input;

/* An entry whose NOPs are to be one, and its bytes then. */
struct merge_nops_entry {
	taddr addr;
	uint8_t merged[USPL_TRACE_SITE_BYTES];
};

/*
 * Entries of several NOPs (merge_nops.c), which become one instruction before a jump takes their
 * place: then no thread has to be stopped for that.
 */
struct merge_nops {
	VEC(struct merge_nops_entry) entries;
	struct text_poke poke; /* in which they become one */
	struct drain drain; /* the jumps' bytes but the first, in which no thread may stand then */
};

/*
 * How many words may have to be exchanged to switch the candidates of a module on: those of several
 * NOPs twice.
 */
size_t merge_nops_count_words(const candidate_vec *candidates);
/* None yet; the input must outlive it. */
void merge_nops_init(struct merge_nops *merge, const struct patch_input *in);
/* Frees the entries, and what is known of threads. */
void merge_nops_release(struct merge_nops *merge);
/* Takes an entry in; they come by address. */
int merge_nops_add(struct merge_nops *merge, taddr entry, const uint8_t *merged,
		   struct uspl_err *err) uspl_must_check;
/*
 * The words in which jumps take the entries' place must begin with the NOPs as they are: from here
 * on they begin with merged ones. Writes the table of the words in which NOPs are merged, behind
 * the table of these words; result_page, agent and sleeper are those of these words. What is found
 * out about the threads now makes merge_nops_await_drained quick.
 */
int merge_nops_take(struct merge_nops *merge, struct text_poke *poke,
		    struct uspl_err *err) uspl_must_check;
/*
 * When the NOPs are merged: waits until no thread stands at one of the bytes. USPL_E_BUSY: it took
 * too long.
 */
int merge_nops_await_drained(struct merge_nops *merge, struct uspl_err *err) uspl_must_check;

#endif
