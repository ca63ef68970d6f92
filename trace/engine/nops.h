/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nops.h - several NOPs at an entry are made one, so that a jump can take their place with nobody
 * stopped for it
 */
#ifndef USPL_TRACE_ENGINE_NOPS_H
#define USPL_TRACE_ENGINE_NOPS_H

#include "safety/clear.h"
#include "text/words.h"
#include "trace/engine/spot.h"

struct batch_input;

/* An entry whose NOPs are to be one, and its bytes then. */
struct nops_entry {
	taddr addr;
	uint8_t joined[USPL_TRACE_SITE_BYTES];
};

/*
 * Entries of several NOPs (nops.c), which become one instruction before a jump takes their place:
 * then nobody has to be stopped for that.
 */
struct nops {
	VEC(struct nops_entry) entries;
	struct words words; /* in which they become one */
	struct clear
		clear; /* the jumps' bytes but the first, in which nobody may stand any more then */
};

/*
 * How many words may have to be exchanged to switch the spots of a module on: those of several NOPs
 * twice.
 */
size_t nops_count_words(const spot_vec *spots);
/* None yet; the input must outlive it. */
void nops_init(struct nops *nops, const struct batch_input *in);
/* Frees the entries, and what is known of threads. */
void nops_release(struct nops *nops);
/* Takes an entry in; they come by address. */
int nops_add(struct nops *nops, taddr entry, const uint8_t *joined,
	     struct uspl_err *err) uspl_must_check;
/*
 * Of the words in which jumps take the entries' place, which are to begin with the NOPs as they
 * are: from here on they begin with joined ones. Writes the table of those in which they are
 * joined, behind the one of these words; slate, agent and sleeper are those of these words. What is
 * found out of the threads now makes nops_await_clear quick.
 */
int nops_take(struct nops *nops, struct words *words, struct uspl_err *err) uspl_must_check;
/*
 * When the NOPs are joined: waits until no thread stands at one of the bytes. USPL_E_BUSY: it took
 * too long.
 */
int nops_await_clear(struct nops *nops, struct uspl_err *err) uspl_must_check;

#endif
