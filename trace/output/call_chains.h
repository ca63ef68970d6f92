/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_chains.h - the chains of recorded calls, with the nanoseconds spent in each */
#ifndef USPL_TRACE_OUTPUT_CALL_CHAINS_H
#define USPL_TRACE_OUTPUT_CALL_CHAINS_H

#include "trace/output/calltree.h"

struct reader;

/* Zero-initialise it. */
struct call_chains {
	struct calltree tree; /* of nanoseconds; its roots are "COMMAND-TID" */
	VEC(struct symbol *) symbols;
};

/*
 * Of the calls of the last reading; those nested deeper than the reader's depth count for their
 * callers. Puts the reader's records in order. call_chains_release must follow in any case.
 */
int call_chains_make(struct reader *reader, struct call_chains *ret,
		     struct uspl_err *err) uspl_must_check;
void call_chains_release(struct call_chains *chains);
DEFINE_AUTO_RELEASE(call_chains, struct call_chains, call_chains_release)
#define auto_call_chains __attribute__((cleanup(cleanup_call_chains_)))

#endif
