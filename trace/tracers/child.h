/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * child.h - a program that is run to be traced
 *
 *     child_start     it stands at its first instruction, held by ptrace
 *     child_ready     it runs until functions may be traced: before the first constructor
 *     child_free      it runs, and isn't held any more, from wherever it stands
 *     child_follow    the same, but it stops once more at its end, with its memory
 */
#ifndef USPL_TRACE_TRACERS_CHILD_H
#define USPL_TRACE_TRACERS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/types.h"

/* Zero-initialise it. */
struct child {
	pid_t pid;
	bool is_free;  /* it runs */
	bool is_ready; /* child_ready has left it stopped, and no tool holds it */
};

/* Runs the command; it dies with us as long as it isn't free. */
int child_start(struct child *child, char **command, struct uspl_err *err) uspl_must_check;
/* Ends a child that was never let go: it has done nothing yet. */
void child_discard(const struct child *child);
/* Lets it go. */
void child_free(struct child *child);
/* The program's own exit status, 128 + N if signal N ended it; 0 after ^C. */
int child_wait(const struct child *child);

/* The program stands at a system call. */
struct child_stop {
	bool returned; /* from the call; else it is about to make it */
	uint64_t nr, args[6];
	int64_t result; /* if it has returned */
	int64_t ran_ns; /* since it was let go at the stop before */
};

/* What is told of all such stops of child_ready. */
struct child_listener {
	void (*stop)(void *ctx, const struct child_stop *stop);
	void *ctx;
};

/*
 * Lets it run until the C library has set up the first thread and the dynamic linker has brought
 * all libraries, but for their constructors. It then stands still like a process that was stopped
 * by a signal, and no tool holds it. listener: NULL for none. USPL_E_UNSUPPORTED: a static program,
 * or its end comes first.
 */
int child_ready(struct child *child, const struct child_listener *listener,
		struct uspl_err *err) uspl_must_check;
/* What is to be done while it runs, and at its end. */
struct child_events {
	/*
	 * All its memory is still there, unless it has ended while it was let go for `work`. Not
	 * called if it was killed (SIGKILL) and never let go.
	 */
	int (*at_end)(void *ctx, pid_t pid, struct uspl_err *err);
	/* NULL: nothing is done meanwhile. For how long, in ms, has_work needn't be asked. */
	int (*look_ms)(void *ctx);
	/* True: `work` is to be called. Nothing may be changed, since it is held. */
	bool (*has_work)(void *ctx);
	/* No tool holds it. */
	void (*work)(void *ctx);
	void *ctx;
};

/*
 * Lets a child go that child_ready has left, and waits for its end. Returns as child_wait does, or
 * a negative code, at_end's among them. The callbacks are called in threads of the tool's.
 */
int child_follow(struct child *child, const struct child_events *events, struct uspl_err *err);
/*
 * Says on standard error that its records are lost, since it has run another program in its place.
 */
void child_say_gone(pid_t pid);

#endif
