/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_records.h - what of a process is traced, as its own memory says
 *
 * include/uspl/trace_abi.h has the records. This is the reading half of a session, which apply and
 * undo need as well: a function that is traced has the tracer's jump at its entry, and an update of
 * it makes its mark in the chain slot of its body instead. trace/engine starts and stops sessions.
 */
#ifndef USPL_RECORD_TRACE_RECORDS_H
#define USPL_RECORD_TRACE_RECORDS_H

#include "image/image.h"
#include "proc/proc.h"
#include "uspl/trace_abi.h"

/* Tracing in one module. */
struct trace_region {
	struct uspl_trace_region head;
	char *module_name;
	VEC(struct uspl_trace_site) sites;
};

struct trace_session {
	/* Of one session, by their ids; empty: nothing is traced. */
	VEC(struct trace_region) regions;
};

/* Finds the session of the process; an empty one if there is none. */
int trace_session_read(const struct proc *proc, struct trace_session *ret,
		       struct uspl_err *err) uspl_must_check;
void trace_session_release(struct trace_session *session);
DEFINE_AUTO_RELEASE(session, struct trace_session, trace_session_release)
#define auto_session __attribute__((cleanup(cleanup_session_)))

/* Gives the image of a module the bytes that the program itself has at its sites. */
void trace_session_unpatch_image(const struct trace_session *session, struct image *image);
/* True while sites may hold jumps. */
bool trace_session_is_on(const struct trace_session *session);
/* The site of the function at that entry, NULL if there is none. */
const struct uspl_trace_site *trace_region_site(const struct trace_region *region, taddr entry);
/* The site with that id, and its region; NULL if there is none. */
const struct uspl_trace_site *trace_session_site(const struct trace_session *session, uint32_t id,
						 const struct trace_region **ret_region);

/* The site of the function at that entry, whether on or not; NULL if there is none. */
const struct uspl_trace_site *trace_session_site_at(const struct trace_session *session,
						    taddr entry);
/* The same, if the tracer's jump is at the entry now. */
const struct uspl_trace_site *
trace_session_site_on(const struct proc *proc, const struct trace_session *session, taddr entry);

/* As many bytes at an entry as may be needed to tell whether its NOPs can be one. */
#define TRACE_NOPS_CODE 16

/*
 * What the bytes of a site become where they are several NOPs that can be one
 * (trace/engine/merge_nops.c says what for). code: TRACE_NOPS_CODE bytes at the entry, or as many
 * as there are, at least a site's. False if they aren't, or don't lie in one word.
 */
bool trace_merge_nops(taddr entry, const uint8_t *code, size_t len,
		      uint8_t ret[USPL_TRACE_SITE_BYTES]);
/*
 * True if the site has such bytes: a tool has died, or given up, before a jump took their place.
 * have: as code, what is there now.
 */
bool trace_site_is_merged(const struct uspl_trace_site *site, const uint8_t *have, size_t len);

#endif
