/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json_end.h - the last line of output in JSON: it is complete, and what couldn't be kept
 *
 * docs/json.md has the lines before it.
 */
#ifndef USPL_TRACE_OUTPUT_JSON_END_H
#define USPL_TRACE_OUTPUT_JSON_END_H

#include "base/types.h"

struct buf;

/* The version of the lines. It grows when a key changes its meaning or goes, not with new keys. */
#define TRACE_JSON_VERSION 1

/* What isn't in the lines. */
struct json_losses {
	uint64_t overwritten; /* records, before they were read */
	uint64_t unrecorded;  /* calls or notes that found no room */
	/* Hits at which a user's program was cut short, and later ones without a call of it. */
	uint64_t cut_short, not_called;
};

/* Appends the line. */
void json_end_add(const char *tracer, pid_t pid, const struct json_losses *losses, struct buf *out);

#endif
