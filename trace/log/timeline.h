/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.h - calls in the order in which they happened, each with its caller
 *
 * A ring holds calls in the order of their returns. Here each thread's calls are nested again by
 * their times, and the entries and returns of all threads are put in one order. What the kernel has
 * told takes its place among them: a system call within the function that made it, the time off the
 * processor within that. Such a span's id is TRACE_KERNEL | its place among the events.
 */
#ifndef USPL_TRACE_LOG_TIMELINE_H
#define USPL_TRACE_LOG_TIMELINE_H

#include "trace/log/kernel_event.h"
#include "trace/log/ring.h"

enum trace_event_kind {
	TRACE_ENTER, /* a call that makes traced calls */
	TRACE_LEAVE, /* its return */
	TRACE_LEAF,  /* a call that makes none: entry and return in one */
};

struct trace_event {
	enum trace_event_kind kind;
	uint32_t call; /* index in calls */
	uint64_t time; /* ticks */
};

/* A call with its place in its thread's tree. */
struct trace_span {
	struct trace_record record;
	uint32_t
		/* 0: its caller isn't traced, or had not returned when the rings were read */
		depth;
	/* Index in calls (timeline_walk: its caller's number); TRACE_NO_CALL if depth is 0. */
	uint32_t parent;
	uint64_t self; /* ticks that it did not spend in traced calls; 0 if that isn't known */
	uint64_t end;  /* of the record, but no later than its caller's: what it is nested by */
	bool recurses; /* one of its callers is a call of the same function */
};

#define TRACE_NO_CALL UINT32_MAX

struct timeline {
	VEC(struct trace_span) calls;   /* by thread, then by time of entry */
	VEC(struct trace_event) events; /* by time */
};

/*
 * kernel: events that stand beside the calls; NULL: none. USPL_E_UNSUPPORTED beyond 2^32 calls, and
 * 2^31 events.
 */
int timeline_make(const trace_records *records, const kernel_events *kernel, struct timeline *ret,
		  struct uspl_err *err) uspl_must_check;
/* What is told of each call by timeline_walk. Both return 0, or a failure, which ends the walk. */
struct timeline_visitor {
	/* It begins; *ret is what its calls have as their parent. span->self isn't known yet. */
	int (*enter)(void *ctx, const struct trace_span *span, uint32_t *ret, struct uspl_err *err);
	/* It is over, with what it took itself. number: what `enter` gave it. */
	void (*leave)(void *ctx, const struct trace_span *span, uint32_t number);
	void *ctx;
};

/*
 * Goes through the calls of one thread after the other, nested as in a timeline, and keeps no more
 * than those that are open. Puts the records in that order.
 */
int timeline_walk(trace_records *records, const struct timeline_visitor *visitor,
		  struct uspl_err *err) uspl_must_check;
/* Where the calls of the thread end that begin at `from`: the index behind the last. */
size_t timeline_thread_end(const struct timeline *timeline, size_t from);
void timeline_release(struct timeline *timeline);
DEFINE_AUTO_RELEASE(timeline, struct timeline, timeline_release)
#define auto_timeline __attribute__((cleanup(cleanup_timeline_)))

#endif
