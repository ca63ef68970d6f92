/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reap.h - threads that die while the tool is attached to them
 *
 * A thread that dies while it is traced stays a zombie until its tracer has asked for it. When a
 * process of several threads calls exec the kernel kills the others, and waits until they are gone,
 * while it holds a lock (fs/exec.c, de_thread; cred_guard_mutex) that the next PTRACE_SEIZE wants:
 * each would wait for the other. So the tool asks for the dead while it attaches, and whenever a
 * thread is slow to stop.
 */
#ifndef USPL_THREAD_REAP_H
#define USPL_THREAD_REAP_H

#include <signal.h>

#include "thread/thread.h"

struct reaper {
	const thread_vec *threads; /* that the tool is attached to */
	pid_t main; /* the main thread isn't asked for: exec doesn't wait until it is gone */
	struct sigaction old_action;
};

/*
 * From here to reap_end a SIGCHLD that gets through makes the tool ask for the dead; the caller has
 * blocked SIGCHLD. One reaper at a time in a process.
 */
void reap_begin(struct reaper *reaper, const thread_vec *threads, pid_t main);
void reap_end(struct reaper *reaper);
/* Lets SIGCHLD through, or blocks it again; meanwhile `threads` must not change. */
void reap_admit(bool admit);
/*
 * Asks for those that have died; does nothing outside of the two. Takes longer the more threads
 * there are.
 */
void reap_now(void);

#endif
