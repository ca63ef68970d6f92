/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker.h - a command's work in a process of its own, which outlives a kill of the command
 *
 * A thread that stands still for us may be in a call that the kernel ends with EINTR unless we mend
 * it before the thread goes on (thread/thread.h). SIGKILL leaves no time for that. So the process
 * that was started only waits, and passes signals on to the worker, which does the work: it is in a
 * session of its own, where neither a terminal nor a kill of a process group reaches it. If the
 * first process dies, the worker gets SIGTERM, and ends as any command ends that is interrupted.
 *
 * A kill of the worker itself, or of all processes of a control group, has the same effect as
 * without a worker: the target lives, and the next command mends what was begun.
 */
#ifndef USPL_BASE_WORKER_H
#define USPL_BASE_WORKER_H

#include <stdbool.h>

/*
 * True in the process that is to do the work, false in the one that was started, when the work is
 * done: *ret_status is its exit status then. If a signal has ended the worker it ends the caller,
 * too. Where no process can be made, or with USPL_WORKER=none in the environment, the caller does
 * the work itself.
 */
bool worker_begin(int *ret_status);
/*
 * The exit status of a child that does the caller's work, by what waitpid(2) says of its end. If a
 * signal has ended it, that ends the caller, too.
 */
int worker_status(int status);

#endif
