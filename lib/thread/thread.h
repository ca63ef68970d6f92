/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread.h - one thread under ptrace
 *
 * All functions must be called by the thread that seized it. A thread goes through these states:
 *
 *     state     the thread      entered by                        left by
 *     FREE      runs            thread_release                    thread_seize
 *     SEIZED    runs            thread_seize                      thread_interrupt
 *     ASKED     runs, will stop thread_interrupt, ..._send_back   thread_wait, thread_hold
 *     STOPPED   stands still    thread_wait, thread_poll          thread_release, thread_resume
 *     HELD      is in a call    thread_hold                       thread_poll
 *     GONE      has exited      any of them
 */
#ifndef USPL_THREAD_THREAD_H
#define USPL_THREAD_THREAD_H

#include <signal.h>

#include "arch/regs.h"
#include "base/clock.h"
#include "proc/task.h"

enum thread_state {
	THREAD_FREE,
	THREAD_SEIZED,
	THREAD_ASKED,
	THREAD_STOPPED,
	THREAD_HELD,
	THREAD_GONE
};

/*
 * How long a thread that was asked to stop may take while others stand still, unless the caller
 * says otherwise.
 */
#define STOP_LIMIT_NS 1000000000ll
/*
 * How long to ask again and again for a thread that runs, before the tool sleeps until it is told:
 * the thread stops within that, and to be woken up takes as long as a stop.
 */
#define THREAD_SPIN_NS 50000ll
/*
 * How long a tracer that ends waits, when all else is done, for threads that it has asked to stop
 * and that only wait for their turn.
 */
#define THREAD_END_NS 10000000000ll

struct thread {
	pid_t tid;
	enum thread_state state;
	/* STOPPED on its way to deliver this signal, which thread_release passes on; 0 if none. */
	int signal;
	/* STOPPED while the whole process is (SIGSTOP); it stays so after the release. */
	bool group_stopped;
	bool leaving; /* see thread_leave_call */
	bool at_call; /* STOPPED before or behind a system call, which thread_hold asks for */
	bool regs_valid;
	struct arch_regs regs;     /* of a STOPPED thread, after thread_read_regs */
	struct timeouts *timeouts; /* what is known of its call's time-out (timeouts.h), or NULL */
	bool slept;                /* when a stop was prepared (stop.h) */
	bool has_children;         /* as was seen before it was asked to stop (task.h) */
	bool beside;               /* it stands still only for the others' sake (stop_some) */
};

typedef VEC(struct thread) thread_vec;

/*
 * Waits, until the deadline, for a thread in uninterruptible sleep: it can't be stopped, nor, once
 * it has been asked to stop, be let go before it does. USPL_E_UNSTOPPABLE, saying where it sleeps.
 */
int thread_require_stoppable(const struct proc *proc, pid_t tid, int64_t deadline,
			     struct uspl_err *err) uspl_must_check;
/* Fails since that thread doesn't stop: USPL_E_UNSTOPPABLE, saying what it waits for. */
int thread_fail_unstoppable(const struct proc *proc, pid_t tid, struct uspl_err *err);
/*
 * Blocks all of the tool's signals, so that ^C can't end it in between, and SIGCHLD can be waited
 * for. *ret_old is what thread_unguard puts back.
 */
void thread_guard(sigset_t *ret_old);
void thread_unguard(const sigset_t *old);

/*
 * Attaches without stopping it (PTRACE_SEIZE, Linux 3.4). A thread that is gone becomes GONE, which
 * is no failure; one that the calling thread is attached to already is SEIZED, too.
 */
int thread_seize(const struct proc *proc, struct thread *thread,
		 struct uspl_err *err) uspl_must_check;
/* Asks a SEIZED thread to stop. */
void thread_interrupt(struct thread *thread);
/*
 * Waits until an ASKED thread is STOPPED or GONE; deadline is on CLOCK_MONOTONIC, in nanoseconds.
 * USPL_E_UNSTOPPABLE if it passes first: the thread stays ASKED. After ^C a second is enough. The
 * caller must have blocked SIGCHLD (thread_guard), since the wait is for that.
 */
int thread_wait(const struct proc *proc, struct thread *thread, int64_t deadline,
		struct uspl_err *err) uspl_must_check;
/*
 * To be called for a thread that was asked to stop and is given up: where it is the tool's main
 * thread that asked, it stays attached. thread_fetch_left waits for those that were left behind,
 * until the deadline, or ^C, and lets them go; only then another thread of the tool can attach to
 * them.
 */
void thread_leave_behind(const struct proc *proc, const struct thread *thread);
void thread_fetch_left(int64_t deadline);
/* True in the tool's main thread. */
bool thread_can_leave_behind(void);
/* True if a thread that was asked to stop has done so by now, or does when its turn comes. */
bool thread_is_about(const struct proc *proc, pid_t tid);
/*
 * At the end of a process of the tool's, which exit() calls by itself, and _exit() doesn't: the
 * same, for as long as a thread that was left behind only waits for its turn, but THREAD_END_NS at
 * most. One that stops without a tracer, after it was asked, has its call ended with EINTR. Another
 * ^C ends the wait, not the one that has ended the command.
 */
void thread_end_left(void);
/*
 * All three: attaches, asks, and waits. A failure leaves the thread in the state that it has come
 * to.
 */
int thread_stop(const struct proc *proc, struct thread *thread, int64_t deadline,
		struct uspl_err *err) uspl_must_check;
/*
 * Reads a STOPPED thread's registers into thread->regs. If the stop has interrupted a system call
 * that the kernel wouldn't restart, they are changed so that it does, with the time that is left:
 * from here on the call goes on as if nothing had happened whenever the thread is let go, even by
 * the tool's death.
 */
int thread_read_regs(const struct proc *proc, struct thread *thread,
		     struct uspl_err *err) uspl_must_check;
/*
 * Where a STOPPED thread has the area in which the kernel keeps the number of its processor
 * (struct rseq of linux/rseq.h); 0 if it has none, or the kernel is older than 5.13 and can't tell.
 */
taddr thread_rseq(const struct thread *thread);
/* Lets a thread go on by itself and detaches. */
void thread_release(const struct proc *proc, struct thread *thread);
/* Lets it go on, and stays attached: SEIZED. */
void thread_resume(const struct proc *proc, struct thread *thread);
/*
 * For a thread that is STOPPED behind a system call (at_call) which a signal has ended with EINTR:
 * lets it go on to where it takes the signal, and asks it to stop there, so that thread_read_regs
 * can mend the call. It is SEIZED, and `leaving`, until that is seen. False if it is no such
 * thread: then it stays as it is.
 */
bool thread_leave_call(const struct proc *proc, struct thread *thread) uspl_must_check;
/*
 * Lets a STOPPED thread, whose registers have been read, go back to the system call that the stop
 * has interrupted: it is ASKED, and stops once more, right before the call. thread_hold is next.
 * False if it was in no such call, or has a signal to take: then it stays as it is.
 */
bool thread_send_back(const struct proc *proc, struct thread *thread) uspl_must_check;
/*
 * Waits for a thread that was sent back, and lets it into the call: HELD. From then on it does
 * nothing but that call, and stops before it comes back from it, or before it takes a signal. It is
 * STOPPED if something has come in between, a signal for example. Fails as thread_wait, and is
 * ASKED then.
 */
int thread_hold(const struct proc *proc, struct thread *thread, int64_t deadline,
		struct uspl_err *err) uspl_must_check;
/*
 * A SEIZED or HELD thread that has stopped by itself becomes STOPPED, and one that has died GONE.
 */
void thread_poll(struct thread *thread);

#endif
