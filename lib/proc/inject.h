/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inject.h - system calls and function calls made by the target on our behalf
 *
 * One thread is held for some 100 microseconds; the others run on. The code that it executes
 * (runtime/agent.S) ends in rt_sigreturn of a frame that holds all its registers: were the tool
 * killed at any instant, the thread would finish the requests and go on where it was.
 */
#ifndef USPL_PROC_INJECT_H
#define USPL_PROC_INJECT_H

#include "proc/proc.h"
#include "proc/thread.h"

enum inject_kind {
	INJECT_SYSCALL = 0, /* number and up to 6 arguments */
	INJECT_CALL = 1,    /* a function's address and up to 6 integer arguments (System V ABI) */
};

struct inject_req {
	enum inject_kind kind;
	uint64_t what;
	uint64_t args[6];
	int64_t result; /* out: the return value; a system call's is -errno if it failed */
};

#define INJECT_MAX 32 /* requests in one run */

/*
 * Runs the requests in order in one thread of the target. Stops after the first system call that
 * fails: *ret_done counts those that were made, the failed one included. Returns 0 even then, the
 * caller looks at the results; fails when the requests could not be run at all (*ret_done is 0).
 * The target must not be stopped by us, and this thread must be the one that traces it.
 */
int inject_run(struct proc *proc, struct inject_req *reqs, size_t n, size_t *ret_done,
	       struct uspl_err *err) uspl_must_check;

/* Which threads may make the requests. */
struct inject_choice {
	/* Asked with the thread stopped and its registers read. */
	bool (*fit)(void *ctx, const struct thread *thread);
	void *ctx;
};

/*
 * The same in a thread that is fit. A function that takes locks must not be called in a thread that
 * holds them already: who calls one says here in which threads that can't be. USPL_E_BUSY if no
 * thread is fit at the moment; then nothing was called.
 */
int inject_run_in(struct proc *proc, const struct inject_choice *choice, struct inject_req *reqs,
		  size_t n, size_t *ret_done, struct uspl_err *err) uspl_must_check;

#endif
