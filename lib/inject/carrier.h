/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carrier.h - a stopped thread of the target that the agent runs in: for inject.c
 *
 * There are two ways for it. For a thread that was stopped in its own code the run is *detached*:
 * let go, it makes the requests and finds back by itself (rt_sigreturn). That takes one stop, and
 * no more. What it has done the tool reads on its result page, which must not lie on its stack: by
 * then that is in use again, or unmapped with a thread that has ended. For a thread whose system
 * call the kernel has to restart the run is *traced*: the tool puts its own state back in a stop,
 * since there the kernel still restarts the call, with the time that remains.
 *
 * Where the run itself maps the result page's memory, a detached run says nothing before it has it.
 * If its first request fails the thread goes on without an answer: CARRIER_SILENT, and the requests
 * are made once more in a traced run.
 *
 *     carrier_load             the frame lies in unused pages of its stack; nothing depends on it
 *                              yet
 *     carrier_run_traced       all of it, the thread stands where it stood; or
 *     carrier_start_detached   the thread has the agent's registers; when it is let go it runs
 *     carrier_await            the results, after that
 *     carrier_release
 */
#ifndef USPL_INJECT_CARRIER_H
#define USPL_INJECT_CARRIER_H

#include "inject/inject.h"

/* A thread was not fit to run the agent; another one may be. Not an enum uspl_code. */
#define CARRIER_UNFIT 1
/* Its run was detached; it has left the agent, and has done nothing. */
#define CARRIER_SILENT 2

struct carrier {
	struct inject_agent *agent;
	struct thread thread; /* STOPPED; with its own registers until its run begins */
	struct buf xstate;
	int xstate_note; /* which of the kernel's sets of registers that is */
	uint64_t sigmask;
	bool shadowed; /* it has a shadow stack, whose pointer this is */
	uint64_t ssp;
	struct agent_frame frame;
	/* room for a result page that outlives the thread; 0: the run must be traced */
	taddr result_page;
	bool maps_result_page; /* the first request maps it */
	uint64_t token;        /* which tells it then from anything else that is mapped there */
	struct buf stack;      /* what was where the frame lies, if the run is to be traced */
	struct arch_regs own;  /* of the thread, while thread has the agent's */
	struct inject_req *reqs;
	size_t n;
	struct inject_watch *watch; /* NULL: CARRIER_RUN_NS, and nothing is told */
	int64_t began_ns, ran_ns; /* a traced run: when it began, what the thread had run by then */
	bool held;                /* it stands still until all is made: the run must be traced */
	bool alone;               /* its run can be detached: left alone it goes on as before */
	bool runs; /* in a traced run: it was let go, and its next stop hasn't been seen */
	/* and it was seen on the tool's processor, where it can't run while the tool spins */
	bool beside;
};

/*
 * Finds out which way is possible, and writes the frame. CARRIER_UNFIT, with the reason in err, and
 * nothing has happened, if the stack that the thread was made with has no room for it
 * (stack_room.h). carrier has agent, thread, result page, maps_result_page, reqs, n and held;
 * carrier_release is to be called in any case.
 */
int carrier_load(struct carrier *carrier, struct uspl_err *err) uspl_must_check;
/* CARRIER_UNFIT, since the thread's system calls don't reach the kernel. */
int carrier_fail_dispatched(const struct carrier *carrier, struct uspl_err *err) uspl_must_check;
/* Frees what it holds; nothing in the target. */
void carrier_release(struct carrier *carrier);

/* If its run can be detached: thread_release then lets it go. On failure it stands as before. */
int carrier_start_detached(struct carrier *carrier, struct uspl_err *err) uspl_must_check;
/*
 * Waits until the detached run is done; the results are in reqs, *ret_done counts them. A thread
 * that takes too long is stopped once more and given its own state back. May be CARRIER_SILENT.
 */
int carrier_await(struct carrier *carrier, size_t *ret_done, struct uspl_err *err) uspl_must_check;

/*
 * Runs all requests, from stop to stop; the thread is STOPPED again, or GONE, with its own
 * registers. The results are in reqs, *ret_done counts them.
 */
int carrier_run_traced(struct carrier *carrier, size_t *ret_done,
		       struct uspl_err *err) uspl_must_check;

/* True if it says nothing before it has made its result page. */
bool carrier_maps_result_page(const struct carrier *carrier);

/* True for a signal that a thread gets for what it does itself. */
bool carrier_is_fault(int signal);
/* True if one of the requests is of this kind. */
bool carrier_requests(const struct carrier *carrier, enum inject_kind kind);

/*
 * Gives the agent's registers to the thread, which restores itself from the first ptrace call on.
 */
int carrier_start(struct carrier *carrier, struct uspl_err *err) uspl_must_check;
/* Gives the thread its own state back, in a stop. */
int carrier_restore(struct carrier *carrier, struct uspl_err *err) uspl_must_check;

/* How long a run may take. */
#define CARRIER_RUN_NS 10000000000ll

#endif
