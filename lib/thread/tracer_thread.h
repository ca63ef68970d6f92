/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracer_thread.h - a thread of the tool's that traces, and detaches by ending
 *
 * A thread of the target can be detached from only while it stands still, so it would have to be
 * woken for that. But when a tracing thread ends the kernel detaches it from all that it traces
 * (exit_ptrace), and wakes none of them.
 */
#ifndef USPL_THREAD_TRACER_THREAD_H
#define USPL_THREAD_TRACER_THREAD_H

#include "thread/thread.h"

/* What is done in such a thread; fails as it likes. */
typedef int tracer_work(void *ctx, struct uspl_err *err);

/*
 * Calls work in a thread of the tool's, and returns what work returns, when that thread traces no
 * other any more. The tool's signals are blocked meanwhile. Fails also if no thread can be made.
 */
int tracer_run(tracer_work *work, void *ctx, struct uspl_err *err) uspl_must_check;

/*
 * The same for work that stops some threads of the process, but not all. The kernel gives SIGCHLD
 * to the thread that has forked; while that one is traced and stands still the kernel gives it to
 * another one, even if it is ignored (task_has_children), and that ends epoll_wait and the like
 * with EINTR. So if the process has children, or had some, the tool meanwhile attaches to threads
 * that sleep in such calls, or run; a call that is ended so is made again. If it had none, work is
 * called as it is. Work can stop these threads all the same.
 */
int tracer_run_beside(const struct proc *proc, tracer_work *work, void *ctx,
		      struct uspl_err *err) uspl_must_check;

/*
 * To be called before a tracing thread ends: those of its threads that have come out of a call, or
 * are on their way out, go on from where they stop, and their calls are mended.
 */
void tracer_settle(const struct proc *proc, thread_vec *threads);
/*
 * To be called before a thread with children is let go: it may take SIGCHLD before another one that
 * has been woken for it. Those of `threads` that have been woken are asked to stop, so that their
 * calls can be mended. The second one is for those beside work, if there are any.
 */
void tracer_shield(const struct proc *proc, thread_vec *threads);
void tracer_shield_beside(void);
/* Lets threads go on that have stopped. One that was held in a call no longer is. */
void tracer_serve(const struct proc *proc, thread_vec *threads);

#endif
