// SPDX-License-Identifier: GPL-3.0-or-later
// last_calls.c - calls that a process which is over had not returned from
/*
 * The names of the shadow's slots lie in memory that is shared with the tool (struct
 * uspl_trace_kept): of each open call the thunk and the time. Its address on the stack says which
 * calls it was made in. Whose stack that was is told by the thread pointer, which C libraries keep
 * at the upper end of a thread's stack; the main thread's stack lies above all others.
 */

#include "trace/log/last_calls.h"

#include <stdlib.h>
#include <string.h>

#include "proc/remains.h"
#include "trace/engine/trace_buffers.h"
#include "trace/log/open_calls.h"

#define NAMES (USPL_TRACE_NAMES / sizeof(struct uspl_trace_name))

/* A thread that had a ring. */
struct owner {
	taddr thread;
	pid_t tid;
};

struct reading {
	const struct proc *proc;
	const struct trace_session *session;
	const struct uspl_trace_region *head;
	VEC(struct owner) owners; /* but the main thread */
	kept_calls calls;
};

static void release(struct reading *reading)
{
	vec_release(&reading->owners);
	vec_release(&reading->calls);
}

DEFINE_AUTO_RELEASE(reading, struct reading, release)
#define auto_reading __attribute__((cleanup(cleanup_reading_)))

static int find_owners(struct reading *reading, struct uspl_err *err)
{
	const struct uspl_trace_region *head = reading->head;

	for (uint64_t i = 0; i < head->n_rings; i++) {
		struct uspl_trace_ring ring;
		struct owner *owner;
		int rc = proc_read(reading->proc, head->rings + i * head->ring_bytes, &ring,
				   sizeof(ring), err);

		if (rc)
			return rc;
		if (!ring.thread || (pid_t)ring.tid == reading->proc->remains->main)
			continue;
		owner = vec_push(&reading->owners);
		if (!owner)
			return uspl_fail_nomem(err);
		*owner = (struct owner){ ring.thread, (pid_t)ring.tid };
	}
	return 0;
}

static pid_t tid_of(const struct reading *reading, taddr at)
{
	pid_t tid = reading->proc->remains->main;
	const struct owner *owner;
	taddr nearest = UINT64_MAX;

	vec_for_each (&reading->owners, owner)
		if (owner->thread > at && owner->thread < nearest) {
			nearest = owner->thread;
			tid = owner->tid;
		}
	return tid;
}

/* The calls of a chunk of stack; names: NAMES of them. */
static int add_chunk(struct reading *reading, taddr chunk, const struct uspl_trace_name *names,
		     struct uspl_err *err)
{
	for (size_t i = 0; i < NAMES; i++) {
		taddr at = chunk + i * sizeof(uint64_t);
		struct kept_call *call;
		uint32_t id = names[i].start ? open_calls_id(reading->session, names[i].thunk) : 0;

		if (!id || reading->calls.n == OPEN_CALLS_MAX)
			continue;
		call = vec_push(&reading->calls);
		if (!call)
			return uspl_fail_nomem(err);
		*call = (struct kept_call){
			.at = at, .start = names[i].start, .id = id, .tid = tid_of(reading, at)
		};
	}
	return 0;
}

static int find_calls(struct reading *reading, struct uspl_err *err)
{
	taddr kept = trace_buffers_kept(reading->head);
	auto_free struct uspl_trace_name *names = malloc(USPL_TRACE_NAMES);
	auto_free struct uspl_trace_kept *head = malloc(sizeof(*head));
	int rc = names && head ? proc_read(reading->proc, kept, head, sizeof(*head), err)
			       : uspl_fail_nomem(err);

	if (rc)
		return rc;
	for (uint64_t i = 0; i < USPL_TRACE_KEPT_CHUNKS; i++) {
		taddr chunk = head->chunks[i];

		if (!chunk || chunk % USPL_TRACE_CHUNK)
			continue;
		rc = proc_read(reading->proc, kept + TK_NAMES + i * USPL_TRACE_NAMES, names,
			       USPL_TRACE_NAMES, err);
		if (rc)
			return rc;
		rc = add_chunk(reading, chunk, names, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Of the calls of one thread the inner ones have begun later; another one was left. */
static int add_all(const struct reading *reading, uint64_t now, trace_records *records,
		   struct uspl_err *err)
{
	const struct kept_call *call;
	uint64_t since = 0;
	pid_t tid = 0;

	vec_for_each (&reading->calls, call) {
		bool open;
		int rc;

		if (call->recorded || call->start > now)
			continue;
		if (call->tid != tid)
			since = 0;
		tid = call->tid;
		open = call->start >= since;
		since = open ? call->start : since;
		rc = open_call_add(call, tid, now, open, records, err);
		if (rc)
			return rc;
	}
	return 0;
}

int last_calls_read(const struct proc *proc, const struct trace_session *session, uint64_t now,
		    trace_records *records, struct uspl_err *err)
{
	auto_reading struct reading reading = { .proc = proc, .session = session };
	int rc;

	if (!session->regions.n || !session->regions.items[0].head.kept || !proc->remains)
		return 0;
	reading.head = &session->regions.items[0].head;
	rc = find_owners(&reading, err);
	if (rc)
		return rc;
	rc = find_calls(&reading, err);
	if (rc || !reading.calls.n)
		return rc;
	open_calls_strike(&reading.calls, records);
	return add_all(&reading, now, records, err);
}
