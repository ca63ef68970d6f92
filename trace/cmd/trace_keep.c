// SPDX-License-Identifier: GPL-3.0-or-later
// trace_keep.c - a process that waits for a traced one's end, and saves what was recorded
/*
 * It is `uspl-trace keep PID`, a companion (companion.h). When it is ready all is held.
 */

#include "trace/cmd/trace_keep.h"

#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cli.h"
#include "trace/cmd/companion.h"
#include "trace/cmd/save.h"
#include "trace/cmd/subcommands.h"
#include "trace/log/last_trace.h"
#include "trace/output/look.h"
#include "trace/output/reader.h"
#include "trace/tracers/tracers.h"

void trace_keep_start(const struct proc *proc)
{
	auto_buf struct buf why = { 0 };
	char number[16];
	const char *const argv[] = { "uspl-trace", "keep", number, NULL };

	snprintf(number, sizeof(number), "%d", proc->pid);
	if (companion_start(argv, &why) && why.len && geteuid() == 0)
		fprintf(stderr, "uspl-trace: note: the records of pid %d go with the process: %s\n",
			proc->pid, buf_str(&why));
}

/* All that can be read when the process is over. */
struct keeping {
	struct reader reader;
	int pidfd, fd, watch;
};

static void keeping_release(struct keeping *keeping)
{
	reader_release(&keeping->reader);
}

DEFINE_AUTO_RELEASE(keeping, struct keeping, keeping_release)
#define auto_keeping __attribute__((cleanup(cleanup_keeping_)))

static int hold(struct keeping *keeping, pid_t pid, struct uspl_err *err)
{
	struct reader *reader = &keeping->reader;
	int rc;

	keeping->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (keeping->pidfd < 0)
		return uspl_fail_errno(err, "cannot wait for the end of pid %d", pid);
	reader->names_later = true;
	rc = reader_open(pid, NULL, reader, err);
	if (rc)
		return rc;
	reader->tracer = tracer_of(&reader->view.session);
	rc = reader_hold(reader, err);
	if (rc)
		return rc;
	rc = thread_names_read(reader->view.proc, &reader->threads, err);
	if (rc)
		return rc;
	return last_trace_create(reader->view.proc, &keeping->fd, &keeping->watch, err);
}

/* True when the process is over; false if its trace isn't wanted any more. */
static bool await_end(const struct keeping *keeping)
{
	struct pollfd fds[] = { { keeping->pidfd, POLLIN, 0 }, { keeping->watch, POLLIN, 0 } };
	struct inotify_event events[16];
	struct stat st;

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[1].revents && read(keeping->watch, events, sizeof(events)) > 0 &&
		    fstat(keeping->fd, &st) == 0 && !st.st_nlink)
			return false;
		if (fds[0].revents)
			return true;
	}
}

int trace_keep(int argc, char **argv, struct uspl_err *err)
{
	auto_keeping struct keeping keeping = { .fd = -1 };
	struct uspl_err why = { 0 };
	pid_t pid;
	int rc = argc == 2 ? cli_pid(argv[1], &pid, err)
			   : uspl_fail(err, USPL_E_USAGE, "this is for 'uspl-trace start'");

	if (rc)
		return rc;
	prctl(PR_SET_NAME, "uspl-keeper");
	if (chdir("/") < 0)
		return uspl_fail_errno(err, "cannot leave the folder");
	rc = hold(&keeping, pid, &why);
	companion_ready(rc ? why.msg : "");
	if (rc)
		return rc;
	/* What strangers made is read when it is over: of what a keeper may do this is enough. */
	look_only();
	if (!await_end(&keeping))
		return USPL_STATUS_DONE;
	rc = reader_find_names(&keeping.reader, err);
	if (rc)
		return rc;
	rc = reader_read(&keeping.reader, err);
	if (rc)
		return rc;
	return save_into(&keeping.reader, keeping.fd, err);
}
