// SPDX-License-Identifier: GPL-3.0-or-later
// child.c - a program that is run to be traced: its beginning and its end

#include "trace/tracers/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel.h"

#define SIGNAL_STATUS 128

/* Waits until the child has become the program, and stands at its first instruction. */
static int wait_for_exec(struct child *child, const char *name, int pipe, struct uspl_err *err)
{
	int status, cause = 0;

	while (waitpid(child->pid, &status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for pid %d", child->pid);
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP &&
	    ptrace(PTRACE_SETOPTIONS, child->pid, NULL, PTRACE_O_EXITKILL) == 0)
		return 0;
	if (!WIFSTOPPED(status))
		child->pid = 0;
	errno = read(pipe, &cause, sizeof(cause)) == sizeof(cause) ? cause : EINTR;
	return uspl_fail_errno(err, "cannot run '%s'", name);
}

int child_start(struct child *child, char **command, struct uspl_err *err)
{
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	fflush(stdout);
	child->pid = fork();
	if (child->pid == 0) {
		/* What goes wrong is told through the pipe, which a successful exec closes. */
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execvp(command[0], command);
		rc = errno;
		(void)!write(ends[1], &rc, sizeof(rc));
		_exit(1);
	}
	close(ends[1]);
	rc = child->pid < 0 ? uspl_fail_errno(err, "cannot start a process")
			    : wait_for_exec(child, command[0], ends[0], err);
	close(ends[0]);
	return rc;
}

void child_free(struct child *child)
{
	child->is_free = child->is_ready ? kill(child->pid, SIGCONT) == 0
					 : ptrace(PTRACE_DETACH, child->pid, NULL, NULL) == 0;
}

void child_discard(const struct child *child)
{
	if (child->pid <= 0 || child->is_free)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

int child_wait(const struct child *child)
{
	int status;

	while (waitpid(child->pid, &status, 0) < 0)
		if (errno != EINTR || cancel_requested())
			return USPL_STATUS_DONE;
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_say_gone(pid_t pid)
{
	fprintf(stderr,
		"uspl-trace: pid %d has run another program in its place (exec), and what "
		"was recorded went with the first\n",
		pid);
}
