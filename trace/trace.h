/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.h - what the files of this folder share
 *
 * To add a subcommand: a function, a line here, a line in the table of cmd_trace.c. To add a
 * tracer: a file tracer_NAME.c with its struct tracer, a line in the table of tracers.c.
 */
#ifndef USPL_TRACE_TRACE_H
#define USPL_TRACE_TRACE_H

#include "base/buf.h"
#include "base/cli.h"
#include "tracing/clocks.h"
#include "tracing/session.h"
#include "tracing/timeline.h"

/* Subcommands. Like commands: an exit status, or a negative code with err filled in. */
int trace_start(int argc, char **argv, struct uspl_err *err);
int trace_stop(int argc, char **argv, struct uspl_err *err);
int trace_cat(int argc, char **argv, struct uspl_err *err);
int trace_report(int argc, char **argv, struct uspl_err *err);
int trace_list(int argc, char **argv, struct uspl_err *err);
int trace_status(int argc, char **argv, struct uspl_err *err);

/* What the records of a session mean. */
struct trace_names {
	VEC(char *) by_id;   /* by id - 1; NULL where no name is known */
	VEC(char *) modules; /* the module's name for each id */
	const struct proc *proc;
	const module_vec *proc_modules;
	VEC(struct image *) images; /* for names of callers; by module, NULL until asked for */
};

/* Finds the names of all sites of the session. proc and modules must outlive it. */
int names_find(const struct proc *proc, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret,
	       struct uspl_err *err) uspl_must_check;
void names_release(struct trace_names *names);
/* The function's name, or its address in buf. */
const char *names_of(const struct trace_names *names, const struct trace_session *session,
		     uint32_t id, char *buf, size_t len);
/*
 * The function that a return address with this low half lies in, by all modules; its address in buf
 * if nothing is known.
 */
const char *names_of_caller(struct trace_names *names, uint32_t low, char *buf, size_t len);

/* What was read, ready to be printed. */
struct trace_log {
	pid_t pid;
	char comm[32];
	const struct trace_session *session;
	struct trace_names *names;
	double ns_per_tick;
	uint64_t start_ticks; /* printed times count from here */
	const struct timeline *timeline;
	uint64_t overwritten, unseen;
	uint32_t depth; /* calls deeper than this are left out; 0: none are */
};

/* A tracer: what is recorded, and how it is printed as text. */
struct tracer {
	const char *name;
	bool entries; /* records entries, not returns */
	/* What stands above the lines. */
	void (*head)(struct buf *out);
	/* One event as a line. */
	void (*line)(const struct trace_log *log, const struct trace_event *event, struct buf *out);
};

extern const struct tracer tracer_function, tracer_graph;

/* The tracer of that name; USPL_E_USAGE, naming all, if there is none. */
int tracer_find(const char *name, const struct tracer **ret, struct uspl_err *err) uspl_must_check;
/* The one that a session runs. */
const struct tracer *tracer_of(const struct trace_session *session);

/* A process with its session, for the subcommands that look at one. */
struct view {
	struct proc *proc;
	module_vec modules;
	struct trace_session session;
};

/* USPL_E_NOT_APPLIED if nothing is traced there. write: the process is to be changed, too. */
int view_open(pid_t pid, bool write, struct view *ret, struct uspl_err *err) uspl_must_check;
void view_release(struct view *view);

#endif
