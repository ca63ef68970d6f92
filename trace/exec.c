// SPDX-License-Identifier: GPL-3.0-or-later
// exec.c - uspl-trace exec: a program is observed from its first instruction
//
// The program is held by ptrace where the kernel has just put it in place of us, at the dynamic linker's first instruction. The tracer
// attaches, then it is let go, and isn't traced any more. If this tool dies before that, so does the program.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel.h"
#include "trace/line.h"
#include "trace/trace.h"

#define SIGNAL_STATUS 128

struct child {
	pid_t pid;
	bool is_free; /* it runs */
};

/* In the child. What goes wrong is told through the pipe, which a successful exec closes. */
static void become(char **command, int pipe)
{
	int cause;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		execvp(command[0], command);
	cause = errno;
	if (write(pipe, &cause, sizeof(cause)) < 0)
		_exit(1);
	_exit(1);
}

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

static int start_child(struct child *child, char **command, struct uspl_err *err)
{
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return uspl_fail_errno(err, "cannot make a pipe");
	fflush(stdout);
	child->pid = fork();
	if (child->pid == 0)
		become(command, ends[1]);
	close(ends[1]);
	rc = child->pid < 0 ? uspl_fail_errno(err, "cannot start a process")
			    : wait_for_exec(child, command[0], ends[0], err);
	close(ends[0]);
	return rc;
}

/* The tracer has begun. */
static void let_go(void *ctx)
{
	struct child *child = ctx;

	child->is_free = ptrace(PTRACE_DETACH, child->pid, NULL, NULL) == 0;
}

/* A child that was never let go has done nothing yet. */
static void discard(const struct child *child)
{
	if (child->pid <= 0 || child->is_free)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

/* The program's own status; what observes it may end earlier. ^C ends both, or the wait. */
static int wait_for_end(const struct child *child)
{
	int status;

	while (waitpid(child->pid, &status, 0) < 0)
		if (errno != EINTR || cancel_requested())
			return USPL_STATUS_DONE;
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

static int observe(struct line *line, const char *output, char **command, struct uspl_err *err)
{
	struct child child = { 0 };
	int rc;

	if (line->tracer->hook) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the tracer '%s' can't begin with a program: its functions aren't all "
			  "there",
			  line->tracer->name);
		uspl_hint(err, "start the program, then 'uspl-trace start'");
		return -USPL_E_UNSUPPORTED;
	}
	cancel_catch();
	rc = start_child(&child, command, err);
	if (!rc && output && !freopen(output, "we", stdout))
		rc = uspl_fail_errno(err, "cannot write '%s'", output);
	line->watch.begun = let_go;
	line->watch.ctx = &child;
	if (!rc)
		rc = watch_run(line->tracer, line->state, &line->watch, child.pid, err);
	discard(&child);
	return rc ? rc : wait_for_end(&child);
}

int trace_exec(int argc, char **argv, struct uspl_err *err)
{
	const char *output = NULL;
	const struct cli_option own[] = {
		{ 'o', "output", "FILE", CLI_STRING, &output,
		  "write there (default: standard output, as the program may)" },
	};
	const struct cli_command about = {
		.name = "uspl-trace exec",
		.synopsis = "--tracer=NAME [OPTION]... -- COMMAND [ARG]...",
		.summary = "Runs a program that is observed from its first instruction",
		.options = own,
		.n_options = ARRAY_SIZE(own),
	};
	struct line line = { 0 };
	int rc = line_parse(&about, argc, argv, &line, err);

	if (rc == CLI_GO_ON && line.first == argc) {
		rc = uspl_fail(err, USPL_E_USAGE, "no command given");
		uspl_hint(err, "try 'uspl-trace exec --help'");
	}
	if (rc == CLI_GO_ON)
		rc = observe(&line, output, argv + line.first, err);
	line_release(&line);
	return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
}
