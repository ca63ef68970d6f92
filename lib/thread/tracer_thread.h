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
 * To be called before a tracing thread ends, with threads that are HELD, and others FREE: those of
 * them that come out of their calls, as they do if they are woken by the end of a child
 * (task_has_children), are let go by and by, with their calls mended.
 */
void tracer_settle(const struct proc *proc, thread_vec *threads);
/* Lets threads go on that have stopped. One that was held in a call no longer is. */
void tracer_serve(const struct proc *proc, thread_vec *threads);

#endif
