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
#define CALLS_MAX (1u << 20) /* the process may have written anything there */

/* A thread that had a ring. */
struct owner {
	taddr thread;
	pid_t tid;
};

struct call {
	taddr at; /* of the return address on the stack */
	uint64_t start;
	uint32_t id;
	pid_t tid;
	bool recorded; /* it returned while the process was dying */
};

struct reading {
	const struct proc *proc;
	const struct trace_session *session;
	const struct uspl_trace_region *head;
	VEC(struct owner) owners; /* but the main thread */
	VEC(struct call) calls;
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
		struct call *call;
		uint32_t id = names[i].start ? open_calls_id(reading->session, names[i].thunk) : 0;

		if (!id || reading->calls.n == CALLS_MAX)
			continue;
		call = vec_push(&reading->calls);
		if (!call)
			return uspl_fail_nomem(err);
		*call = (struct call){ at, names[i].start, id, tid_of(reading, at), false };
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

	for (uint64_t i = 0; !rc && i < USPL_TRACE_KEPT_CHUNKS; i++) {
		taddr chunk = head->chunks[i];

		if (!chunk || chunk % USPL_TRACE_CHUNK)
			continue;
		rc = proc_read(reading->proc, kept + TK_NAMES + i * USPL_TRACE_NAMES, names,
			       USPL_TRACE_NAMES, err);
		rc = rc ? rc : add_chunk(reading, chunk, names, err);
	}
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* By thread, from the outermost call on. */
static int from_above(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->at > y->at ? -1 : x->at < y->at;
}

static void strike_recorded(struct reading *reading, const trace_records *records)
{
	const struct trace_record *record;

	qsort(reading->calls.items, reading->calls.n, sizeof(*reading->calls.items), by_time);
	vec_for_each (records, record) {
		size_t i = vec_lower_bound(&reading->calls, it, it->start < record->start);
		struct call *call = &reading->calls.items[i];

		for (; i < reading->calls.n && call->start == record->start; i++, call++)
			call->recorded |= call->id == record->id;
	}
	qsort(reading->calls.items, reading->calls.n, sizeof(*reading->calls.items), from_above);
}

/* Of the calls of one thread the inner ones have begun later; another one was left. */
static int add_all(const struct reading *reading, uint64_t now, trace_records *records,
		   struct uspl_err *err)
{
	const struct call *call;
	uint64_t since = 0;
	pid_t tid = 0;

	vec_for_each (&reading->calls, call) {
		struct trace_record *record;
		bool open;

		if (call->recorded || call->start > now)
			continue;
		if (call->tid != tid)
			since = 0;
		tid = call->tid;
		open = call->start >= since;
		since = open ? call->start : since;
		record = vec_push(records);
		if (!record)
			return uspl_fail_nomem(err);
		*record = (struct trace_record){ .start = call->start,
						 .end = now,
						 .id = call->id,
						 .tid = tid,
						 .cpu = -1,
						 .how = open ? TRACE_OPEN : TRACE_LEFT };
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
	strike_recorded(&reading, records);
	return add_all(&reading, now, records, err);
}
