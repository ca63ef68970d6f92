/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - tracing in a process: what the target holds of it, and switching it on and off
 *
 *     session_start        looks for functions, loads thunks and rings, puts the jumps in
 *     trace_session_read   finds what another tool has started (record/trace_records.h)
 *     session_stop         takes the jumps out, and the memory when no thread is in it any more
 *
 * The truth lies in the target (include/uspl/trace_abi.h), so that any later command finds it. A
 * tool that dies leaves a target that goes on; session_stop cleans up whatever it left.
 */
#ifndef USPL_TRACE_ENGINE_SESSION_H
#define USPL_TRACE_ENGINE_SESSION_H

#include "proc/module.h"
#include "record/trace_records.h"
#include "thread/thread.h"

/* What is to be traced. */
struct trace_choice {
	bool (*module)(void *ctx, const struct module *module);
	/* Of a module that is chosen, a function with all its names; n is 0 where none is known. */
	bool (*function)(void *ctx, const char *const *names, size_t n);
	void *ctx;
};

struct listen_plan;

struct trace_request {
	bool entries;        /* entries only, not returns */
	uint64_t ring_bytes; /* of records, for each thread; a power of two, 4096 or more */
	bool keep_mcount;    /* leave the calls of a profiler (gcc -pg) as they are */
	double threshold_s;  /* shorter calls leave no record */
	unsigned depth;      /* of nested calls that are recorded; 0: any; not with entries */
	bool keeps;          /* open calls can be read when the process has died */
	tid_vec tids;        /* these threads only; empty: all. The caller's */
	struct trace_choice choice;
	struct listen_plan *listen; /* NULL: no listeners (listen_plan.h) */
};

struct trace_switch {
	size_t sites;     /* that were switched */
	size_t mcount;    /* calls of a profiler that were turned into NOPs */
	double stop_us;   /* the longest standstill of threads that run; 0: there was none */
	double switch_us; /* from before the first page is made ready to behind the last site */
	/*
	 * Threads that are inside traced calls, and 1 if a stack is that no thread is on: the
	 * memory stays for them.
	 */
	size_t inside;
	bool inactive;     /* `inside` is that stack only */
	size_t put_back;   /* calls on such stacks that were made to return without the tracer */
	uint64_t left_out; /* bytes of memory in which no such stack was looked for */
};

/*
 * True if the process is a child of fork, and the session its parent's: nothing is recorded here,
 * and start and stop take away what there is of it.
 */
bool session_is_copy(const struct proc *proc, const struct trace_session *session);
/*
 * Starts tracing. USPL_E_CONFLICT: the process is traced already, or threads are still in calls
 * that were traced before, and have not returned for five seconds. USPL_E_NO_MODULE: no function is
 * wanted. USPL_E_BUSY: a thread stands inside the bytes of a site for longer than a moment.
 */
int session_start(struct proc *proc, const module_vec *modules, const struct trace_request *request,
		  struct trace_switch *ret, struct uspl_err *err) uspl_must_check;
/* How a session is stopped. */
struct session_end {
	bool force; /* a stack that may lead into traced calls all the same doesn't count */
	/*
	 * Called when nothing is traced any more, before what the session has in the target is
	 * unmapped. Not if that has to stay. NULL: nothing to do. A failure ends the stop.
	 */
	int (*last)(void *ctx, struct uspl_err *err);
	void *ctx;
};

/*
 * Stops it. Calls that are open on stacks that no thread is on then return without the tracer.
 * No update may have been left in the middle of its switch (command/interrupted.h). If the switch
 * is made and memory has to stay mapped, for want of a system call, that is a failure, too: another
 * stop takes it.
 */
int session_stop(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 const struct session_end *end, struct trace_switch *ret,
		 struct uspl_err *err) uspl_must_check;

#endif
