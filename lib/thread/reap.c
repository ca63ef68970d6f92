// SPDX-License-Identifier: GPL-3.0-or-later
// reap.c - threads that die while the tool is attached to them

#include "thread/reap.h"

#include <errno.h>
#include <sys/wait.h>

/* A signal handler has no other way to know. */
static const struct reaper *volatile current;

void reap_now(void)
{
	const struct reaper *reaper = current;
	const struct thread *thread;

	if (!reaper)
		return;
	vec_for_each (reaper->threads, thread) {
		siginfo_t info = { .si_pid = 0 };

		if (thread->tid == reaper->main || thread->state == THREAD_GONE)
			continue;
		if (waitid(P_PID, (id_t)thread->tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) !=
		    0)
			continue;
		/* A stop of the thread is left alone: other code asks for that. */
		if (info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			waitid(P_PID, (id_t)thread->tid, &info, WEXITED | WNOHANG | __WALL);
	}
}

static void on_child(int sig)
{
	int errnum = errno;

	(void)sig;
	reap_now();
	errno = errnum;
}

void reap_begin(struct reaper *reaper, const thread_vec *threads, pid_t main)
{
	struct sigaction action = { .sa_handler = on_child };

	reaper->threads = threads;
	reaper->main = main;
	current = reaper;
	sigaction(SIGCHLD, &action, &reaper->old_action);
}

void reap_end(struct reaper *reaper)
{
	sigaction(SIGCHLD, &reaper->old_action, NULL);
	current = NULL;
}

void reap_admit(bool admit)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(admit ? SIG_UNBLOCK : SIG_BLOCK, &child, NULL);
}
