/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_buffers.h - the tables and rings of a session, which all traced modules share */
#ifndef USPL_TRACE_ENGINE_TRACE_BUFFERS_H
#define USPL_TRACE_ENGINE_TRACE_BUFFERS_H

#include "base/types.h"
#include "uspl/trace_abi.h"

struct proc;
struct trace_request;
struct uspl_err;

/* Of the table of threads; the table of chunks follows it. */
#define TRACE_THREADS_LEN (USPL_TRACE_THREADS * sizeof(struct uspl_trace_thread))

/* A whole number of pages. */
static inline uint64_t trace_pages(uint64_t len)
{
	return (len + PAGE - 1) & ~(PAGE - 1);
}

/*
 * Bytes that the session may come to fill beside its parts: tables, and rings and shadows of the
 * threads.
 */
uint64_t trace_buffers_may_fill(const struct proc *proc, const struct trace_request *request);
/*
 * Maps the tables and rings that all modules share, and notes them in head. The tables are wiped in
 * children of fork, the rings aren't there at all. USPL_E_MEMORY_LIMIT if a memory control group of
 * the process has less room than may be filled.
 */
int trace_buffers_map(struct proc *proc, const struct trace_request *request,
		      struct uspl_trace_region *head, struct uspl_err *err) uspl_must_check;
/* What a copy of the runtime is told about them; all else in *ret is 0. */
void trace_buffers_control(const struct proc *proc, const struct uspl_trace_region *head,
			   struct uspl_trace_control *ret);
/* Where the session's struct uspl_trace_kept is in the target; 0: it has none. */
static inline taddr trace_buffers_kept(const struct uspl_trace_region *head)
{
	return head->kept ? head->rings + head->rings_len : 0;
}

/*
 * Unmaps them, and the shadows of stacks; what is left on failure is found by shared_maps_sweep
 * (shared_map.h).
 */
int trace_buffers_unmap(struct proc *proc, const struct uspl_trace_region *head,
			struct uspl_err *err) uspl_must_check;
/*
 * Notes the session's shadow (head->shadow), before a thread needs one. In a process that may not
 * map memory itself the stacks get theirs now.
 */
int trace_buffers_note_shadow(struct proc *proc, const struct uspl_trace_region *head,
			      struct uspl_err *err) uspl_must_check;

#endif
