/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracer.h - what a tracer is: the family's plug-in
 *
 * A tracer is a file tracer_NAME.c with its struct tracer, and a line in the table of tracers.c.
 * There are four sorts, and each tracer is of one of them:
 *
 *     hook     functions of the target are turned into calls of the tracer at `start`; records pile
 *              up in the target until `stop`; `cat`, `report` and `record` read them any time
 *     watch    runs while it is attached: `start` observes the target until --time is over, ^C, or
 *              the end of the process, and prints what it sees, or at the end what it has seen
 *     tally    functions are turned into calls, too; sums are made in the target until `stop`, and
 *              `report` prints them any time
 *     launch   what it sees is over before a process could be observed: only `exec` runs it
 *
 * docs/trace.md, "The family", has the rules; watch_loop.c the loop of the second sort.
 */
#ifndef USPL_TRACE_OUTPUT_TRACER_H
#define USPL_TRACE_OUTPUT_TRACER_H

#include <poll.h>

#include "base/buf.h"
#include "base/cli.h"
#include "proc/module.h"

struct child;
struct format;
struct mark_line;
struct reader;
struct trace_event;
struct trace_log;
struct tracer_tally;

/* An option of one tracer. Letters are for the options of all; the name may be another's, too. */
struct tracer_option {
	const char *name, *arg;
	enum cli_kind kind;
	size_t offset; /* of its value in the tracer's state */
	const char *help;
};

/* A tracer of the first sort: what is recorded, and how it is printed as text. */
struct tracer_hook {
	bool entries; /* records entries, not returns */
	/* What stands above the lines. */
	void (*head)(struct buf *out);
	/* One event as a line. */
	void (*line)(const struct trace_log *log, const struct trace_event *event, struct buf *out);
	/* The record of a marker among them. */
	void (*mark)(const struct reader *reader, const struct mark_line *line, struct buf *out);
};

/* How many forms of output a tracer may have. */
#define FORMATS_MAX 8

/* A process that is being observed. */
struct watch {
	struct proc *proc; /* open for reading */
	module_vec modules;
	const struct format *format; /* one of those that the tracer has */
	void *state;                 /* the tracer's, with its options in place */
	/*
	 * What poll() is to wait for besides the end of the process; the tracer's to fill in
	 * `open`.
	 */
	VEC(struct pollfd) news;
	int64_t interval_ns; /* `read` is called at least this often; 0: only when there is news */
	int64_t start_ns;    /* CLOCK_MONOTONIC, when `open` had succeeded */
	bool over;           /* set by `read`: there is nothing more to come */
	uint64_t lost;       /* set by `end`: what the kernel could not keep */
	struct buf out;      /* what is to be printed; watch_loop.c prints it after each call */
};

/* A tracer of the second sort. On failure of `open`, `close` is called all the same. */
struct tracer_watch {
	const struct format *formats[FORMATS_MAX]; /* that it has, up to the first NULL */
	/* Begins to observe. */
	int (*open)(struct watch *watch, struct uspl_err *err);
	/* Takes in what is new. */
	int (*read)(struct watch *watch, struct uspl_err *err);
	/* The observation is over, and all was read: prints what there is to say in the end. */
	int (*end)(struct watch *watch, struct uspl_err *err);
	/* Releases what the state holds, but not the state. */
	void (*close)(struct watch *watch);
};

/* A tracer of the fourth sort. */
struct tracer_launch {
	/* Whether its options make sense, before a program is run. */
	int (*check)(void *state, struct uspl_err *err);
	/*
	 * Runs the child, which stands at its first instruction, to its end, and prints. Returns as
	 * child_follow does.
	 */
	int (*run)(void *state, struct child *child, struct uspl_err *err);
};

struct tracer {
	const char *name;
	const char *help; /* what it shows, for `uspl-trace tracers`; no full stop */
	const struct tracer_option *options;
	size_t n_options;
	size_t state_size; /* of what its options, and its work, are kept in; begins zeroed */
	/* One of the four. */
	const struct tracer_hook *hook;
	const struct tracer_watch *watch;
	const struct tracer_tally *tally; /* tally.h */
	const struct tracer_launch *launch;
};

#endif
