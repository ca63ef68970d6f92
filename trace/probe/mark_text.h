/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mark_text.h - the code of one command's probes in one module, for the place where it will lie
 *
 *     the user's program | thunks, if returns are waited for | probes
 *
 * Its length doesn't depend on the place.
 */
#ifndef USPL_TRACE_PROBE_MARK_TEXT_H
#define USPL_TRACE_PROBE_MARK_TEXT_H

#include "trace/probe/marks_internal.h"

struct mark_text {
	const struct mark_plan *plan;
	struct uspl_mark_region *head; /* where all lies; its lengths of code are filled in */
	struct uspl_probe *probes;     /* one for each site, to be filled in */
	uint8_t *data;                 /* of the user's program, to be filled in */
	struct buf text;
	struct buf frames; /* .eh_frame of the thunks; empty: there are none */
};

/* Makes it for the addresses in the head; may be called again for others. */
int mark_text_make(struct mark_text *made, struct uspl_err *err) uspl_must_check;
/* The number of the session's shadow; 0: it waits for no returns. */
static inline unsigned mark_shadow_number(const struct uspl_mark_region *head)
{
	return (unsigned)(head->shared.shadow >> USPL_MARK_SHADOW_SHIFT);
}

/* Frees the code, and nothing that the caller has given. */
void mark_text_release(struct mark_text *made);

#endif
