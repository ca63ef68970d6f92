// SPDX-License-Identifier: GPL-3.0-or-later
// departed.c - threads that die while we are attached to them

#include "thread/departed.h"

#include <errno.h>
#include <sys/wait.h>

/* A signal handler has no other way to know. */
static const struct departed *volatile current;

/* A stop of the thread, which somebody else asks for, is left alone. */
static void reap(pid_t tid)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	    info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
}

void departed_reap(void)
{
	const struct departed *departed = current;
	const struct thread *thread;

	if (!departed)
		return;
	vec_for_each (departed->threads, thread)
		if (thread->tid != departed->main && thread->state != THREAD_GONE)
			reap(thread->tid);
}

static void on_child(int sig)
{
	int errnum = errno;

	(void)sig;
	departed_reap();
	errno = errnum;
}

void departed_begin(struct departed *departed, const thread_vec *threads, pid_t main)
{
	struct sigaction action = { .sa_handler = on_child };

	departed->threads = threads;
	departed->main = main;
	current = departed;
	sigaction(SIGCHLD, &action, &departed->old_action);
}

void departed_end(struct departed *departed)
{
	sigaction(SIGCHLD, &departed->old_action, NULL);
	current = NULL;
}

void departed_admit(bool admit)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(admit ? SIG_UNBLOCK : SIG_BLOCK, &child, NULL);
}
