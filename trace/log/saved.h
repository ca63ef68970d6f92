/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved.h - a trace in a file: all that is needed to print it when the process is gone
 *
 * docs/trace.md, "A saved trace", has the form of the file.
 */
#ifndef USPL_TRACE_LOG_SAVED_H
#define USPL_TRACE_LOG_SAVED_H

#include "base/strvec.h"
#include "trace/engine/session.h"
#include "trace/log/callers.h"
#include "trace/log/kernel_event.h"
#include "trace/log/mark_line.h"
#include "trace/log/thread_names.h"

struct trace_saved {
	pid_t pid;
	char comm[32];
	double ns_per_tick;
	uint64_t start_ticks;                 /* printed times count from here */
	uint64_t overwritten, unseen, unsure; /* as for struct trace_ring */
	module_vec modules;           /* where they lay, names and build-ids; nothing else */
	struct trace_session session; /* without functions: of markers only */
	strvec names;                 /* of the functions, by id - 1; NULL: not known */
	strvec lines;                 /* of those that were called: "limit.c:12", likewise */
	trace_callers callers;        /* by low half */
	trace_records records;
	struct buf values;   /* that the records refer to (values.h) */
	mark_line_vec marks; /* in order of time */
	thread_names threads;
	struct kernel_log kernel; /* beside functions; without kinds: the file has no such part */
};

/*
 * The pieces of the file: before the values and the records, a record, behind the records, and the
 * last one, before the kernel's events (kernel_event_put), which are n.
 */
void saved_put_front(struct buf *out, const struct trace_saved *saved);
void saved_put_record(struct buf *out, const struct trace_record *record);
void saved_put_back(struct buf *out, const struct trace_saved *saved, uint64_t n);
/* Writes the file, replacing an older one only when everything is written. */
int saved_write(const char *path, const struct trace_saved *saved,
		struct uspl_err *err) uspl_must_check;
/* The same to an open file, as it comes. */
int saved_write_fd(int fd, const struct trace_saved *saved, struct uspl_err *err) uspl_must_check;
/*
 * Of a file's first bytes: whose trace it is, and of what. What has no room in them isn't there.
 * saved_release must follow.
 */
void saved_parse_head(const void *bytes, size_t len, struct trace_saved *ret);
/*
 * Reads it. USPL_E_FILE: not such a file, or cut short; USPL_E_FORMAT: of another version;
 * USPL_E_HOSTILE: it contradicts itself. What comes out can be relied on: every record's id is that
 * of a function and it ends after it began; texts are UTF-8, but for strings among the values of
 * markers.
 */
int saved_read(const char *path, struct trace_saved *ret, struct uspl_err *err) uspl_must_check;
/* The same from bytes. name is for messages. */
int saved_parse(const void *bytes, size_t len, const char *name, struct trace_saved *ret,
		struct uspl_err *err) uspl_must_check;
void saved_release(struct trace_saved *saved);
DEFINE_AUTO_RELEASE(saved, struct trace_saved, saved_release)
#define auto_saved __attribute__((cleanup(cleanup_saved_)))

#endif
