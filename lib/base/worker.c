// SPDX-License-Identifier: GPL-3.0-or-later
// worker.c - a command's work in a process of its own, which outlives a kill of the command

#include "base/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A name that `pkill uspl-apply` and the like don't find. */
#define NAME "uspl-worker"

int worker_status(int status)
{
	const struct rlimit no_core = { 0 };
	sigset_t only;
	int sig;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* It has left the core, if there is one. */
	setrlimit(RLIMIT_CORE, &no_core);
	sig = WTERMSIG(status);
	signal(sig, SIG_DFL);
	raise(sig);
	sigemptyset(&only);
	sigaddset(&only, sig);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	return EXIT_FAILURE;
}

/* The signals that we wait for are blocked: those that come are passed on. */
static int await_worker(pid_t worker, const sigset_t *passed)
{
	int status, sig;
	pid_t got;

	for (;;) {
		got = waitpid(worker, &status, WNOHANG);
		if (got != 0 && (got > 0 || errno != EINTR))
			break;
		if (sigwait(passed, &sig) == 0 && sig != SIGCHLD)
			kill(worker, sig);
	}
	return got == worker ? worker_status(status) : EXIT_FAILURE;
}

bool worker_begin(int *ret_status)
{
	static const int own[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV,
				   SIGBUS,  SIGILL,  SIGFPE,  SIGABRT };
	const char *setting = getenv("USPL_WORKER");
	pid_t starter = getpid(), worker;
	sigset_t passed, old;

	if (setting && !strcmp(setting, "none"))
		return true;
	sigfillset(&passed);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&passed, own[i]);
	/* An ignored SIGCHLD, which a command may inherit, would leave nothing to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &passed, &old);
	worker = fork();
	if (worker == 0) {
		setsid();
		prctl(PR_SET_NAME, NAME);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* The starter has died before, and no signal comes any more. */
		if (getppid() != starter)
			raise(SIGTERM);
		sigprocmask(SIG_SETMASK, &old, NULL);
		return true;
	}
	if (worker > 0)
		*ret_status = await_worker(worker, &passed);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return worker < 0;
}
