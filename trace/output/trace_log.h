/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_log.h - what was read, ready to be printed */
#ifndef USPL_TRACE_OUTPUT_TRACE_LOG_H
#define USPL_TRACE_OUTPUT_TRACE_LOG_H

#include "trace/log/timeline.h"

struct buf;
struct trace_names;
struct trace_session;

/* What was read, ready to be printed. */
struct trace_log {
	pid_t pid;
	char comm[32];
	const struct trace_session *session;
	struct trace_names *names;
	double ns_per_tick;
	uint64_t start_ticks; /* printed times count from here */
	const struct timeline *timeline;
	const struct kernel_log *kernel; /* what the kernel has told */
	const struct buf *values;        /* texts of arguments and results (trace/log/values.h) */
	uint64_t overwritten, unseen, unsure; /* as for struct trace_ring */
	uint32_t depth;                       /* calls deeper than this are left out; 0: none are */
	bool per_thread; /* text: one thread after the other, not all by time */
};

/* Ticks in nanoseconds. */
static inline double trace_ns(const struct trace_log *log, uint64_t ticks)
{
	return (double)(int64_t)ticks * log->ns_per_tick;
}

/* Ticks in whole nanoseconds, rounded. */
static inline int64_t trace_whole_ns(const struct trace_log *log, uint64_t ticks)
{
	double ns = trace_ns(log, ticks);

	return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* The kernel's event that a span of the timeline is; NULL: it is a call. */
static inline const struct kernel_event *trace_kernel(const struct trace_log *log,
						      const struct trace_record *record)
{
	return record->id & TRACE_KERNEL ? &log->kernel->events.items[record->id & ~TRACE_KERNEL]
					 : NULL;
}

/* What is said of a call that hasn't returned to its caller: "left", "open"; NULL: it has. */
static inline const char *trace_how(const struct trace_record *record)
{
	return record->how == TRACE_LEFT ? "left" : record->how == TRACE_OPEN ? "open" : NULL;
}

/* Ticks in microseconds. */
static inline double trace_us(const struct trace_log *log, uint64_t ticks)
{
	return (double)(int64_t)ticks * log->ns_per_tick / 1e3;
}

#endif
