/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.h - a stopped thread of the target that the agent runs in: for inject.c
 *
 * There are two ways for it. A thread that was stopped in its own code is *sent*: let go, it makes
 * the requests and finds back by itself (rt_sigreturn). That is one stop, and all of it. What it
 * has done is read on its slate, which must not lie on its stack: by then that is in use again, or
 * unmapped with a thread that has ended. A thread whose system call the kernel is to restart is
 * *led*: its own state is put back by us, in a stop, since there the kernel still restarts the
 * call, with the time that remains.
 *
 * Where the slate's memory is mapped by the run itself, a thread that is sent says nothing before
 * it has it. If its first request fails it goes its way without an answer: HOST_SILENT, and the
 * requests are made once more by a thread that is led.
 *
 *     host_load     the frame lies in unused pages of its stack; nothing depends on it yet
 *     host_lead     all of it, the thread stands where it stood; or
 *     host_send     the thread has the agent's registers; when it is let go it runs
 *     host_await    the results, after that
 *     host_release
 */
#ifndef USPL_INJECT_HOST_H
#define USPL_INJECT_HOST_H

#include "inject/inject.h"

/* A thread was not fit to run the agent; another one may be. Not an enum uspl_code. */
#define HOST_UNFIT 1
/* It was sent, has left the agent, and has done nothing. */
#define HOST_SILENT 2

struct host {
	struct inject_agent *agent;
	struct thread thread; /* STOPPED; with its own registers until it is sent */
	struct buf xstate;
	int xstate_note; /* which of the kernel's sets of registers that is */
	uint64_t sigmask;
	bool shadowed; /* it has a shadow stack, whose pointer this is */
	uint64_t ssp;
	struct agent_frame frame;
	taddr slate;      /* room for a slate that outlives the thread; 0: it must be led */
	bool maps_slate;  /* the first request maps it */
	uint64_t token;   /* by which it is told then from what somebody else has mapped there */
	struct buf stack; /* what was where the frame lies, if it is to be led */
	struct arch_regs own; /* of the thread, while thread has the agent's */
	struct inject_req *reqs;
	size_t n;
	bool held;  /* it stands still until all is made: it must be led */
	bool alone; /* it can be sent: left to itself it goes on as if nothing had been */
	bool runs;  /* while it is led: it was let go, and its next stop hasn't been seen */
	/* and it has been seen on our processor, where it comes to nothing while we look for it */
	bool beside;
};

/*
 * Finds out which way it can go, and writes the frame. HOST_UNFIT, with the reason in err, and
 * nothing has happened, if the stack that the thread was made with has no room for it
 * (stack_room.h). host has agent, thread, slate, maps_slate, reqs, n and held; host_release is to
 * be called in any case.
 */
int host_load(struct host *host, struct uspl_err *err) uspl_must_check;
/* HOST_UNFIT, since the thread's system calls don't reach the kernel. */
int host_fail_dispatched(const struct host *host, struct uspl_err *err) uspl_must_check;
/* Frees what it holds; nothing in the target. */
void host_release(struct host *host);

/* For one that can be sent. thread_release then lets it go. On failure it stands as before. */
int host_send(struct host *host, struct uspl_err *err) uspl_must_check;
/*
 * Waits for what it was sent for; the results are in reqs, *ret_done counts them. A thread that
 * takes too long is stopped once more and given its own state back. May be HOST_SILENT.
 */
int host_await(struct host *host, size_t *ret_done, struct uspl_err *err) uspl_must_check;

/*
 * Runs all requests, from stop to stop; the thread is STOPPED again, or GONE, with its own
 * registers. The results are in reqs, *ret_done counts them.
 */
int host_lead(struct host *host, size_t *ret_done, struct uspl_err *err) uspl_must_check;

/* True if it says nothing before it has made its slate. */
bool host_maps_slate(const struct host *host);

/* True if one of the requests is of this kind. */
bool host_requests(const struct host *host, enum inject_kind kind);

/* Gives the agent's registers to the thread, from the first of its calls on it restores itself. */
int host_start(struct host *host, struct uspl_err *err) uspl_must_check;
/* Gives the thread its own state back, in a stop. */
int host_restore(struct host *host, struct uspl_err *err) uspl_must_check;

/* How long a run may take. */
#define HOST_RUN_NS 10000000000ll

#endif
