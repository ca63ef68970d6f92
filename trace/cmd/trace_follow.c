// SPDX-License-Identifier: GPL-3.0-or-later
// trace_follow.c - a process that looks which libraries a traced one opens, and traces them, too
/*
 * It is `uspl-trace follow OPTION... PID`, a companion (companion.h). A library is added when the
 * dynamic linker has put it in place; its constructors may run meanwhile. Nothing in the process
 * tells of it: a breakpoint, or a jump, at the place that debuggers use would meet theirs, and a
 * thread that waited there for a tool would hold the dynamic linker's lock.
 *
 * The session is known by its record in the process: when that is gone, or another one's, or its
 * functions are off, the follower ends.
 */

#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "proc/dynsym.h"
#include "proc/linkmap.h"
#include "proc/proc_lock.h"
#include "trace/cmd/companion.h"
#include "trace/cmd/subcommands.h"
#include "trace/cmd/trace_keep.h"
#include "trace/cmd/tracing.h"
#include "trace/engine/session_grow.h"
#include "trace/output/view.h"

#define LOOK_MS 50
/* A library is on its way, or another tool is at work. */
#define SOON_MS 5
/* Where libraries come and go all the time, what is done for them takes a tenth of the time. */
#define PAUSE_TIMES 9

/* What is followed. */
struct following {
	struct proc *proc; /* read only */
	int pidfd;
	taddr debug;                   /* where the dynamic linker's lists begin */
	struct uspl_trace_region head; /* of the session's first part */
	struct tracing_options opts;
	struct linkmap_watch watch;
	session_passed_vec passed;
};

static void release(struct following *following)
{
	linkmap_watch_release(&following->watch);
	tracing_options_release(&following->opts);
	vec_release(&following->passed);
	proc_free(following->proc);
}

DEFINE_AUTO_RELEASE(following, struct following, release)
#define auto_following __attribute__((cleanup(cleanup_following_)))

static int find_lists(struct following *following, struct uspl_err *err)
{
	auto_modules module_vec modules = { 0 };
	auto_dynsyms struct dynsyms *dyn = NULL;
	int rc = modules_read(following->proc, &modules, err);

	if (rc)
		return rc;
	if (!module_main(&modules))
		return uspl_fail(err, USPL_E_NO_MODULE, "its program isn't mapped");
	rc = dynsyms_open(following->proc, module_main(&modules), &dyn, err);
	if (rc)
		return rc;
	following->debug = dyn->debug;
	if (!dyn->debug)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "it has no dynamic linker");
	return 0;
}

static int begin(struct following *following, pid_t pid, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	int rc;

	following->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (following->pidfd < 0)
		return uspl_fail_errno(err, "cannot wait for the end of pid %d", pid);
	rc = proc_open_readonly(pid, &following->proc, err);
	if (rc)
		return rc;
	rc = trace_session_read(following->proc, &session, err);
	if (rc)
		return rc;
	if (!session.regions.n)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "it isn't traced");
	following->head = session.regions.items[0].head;
	return find_lists(following, err);
}

static bool is_session(const struct following *following, const struct uspl_trace_region *head)
{
	return head->magic == following->head.magic && head->session == following->head.session &&
	       head->state == USPL_TRACE_ON;
}

static bool goes_on(const struct following *following)
{
	struct uspl_trace_region head;

	return proc_read_some(following->proc, following->head.self, &head, sizeof(head)) ==
		       sizeof(head) &&
	       is_session(following, &head);
}

/* The request of the start, as far as it concerns what comes later. */
static int read_request(struct following *following, struct trace_request *ret,
			struct uspl_err *err)
{
	struct uspl_trace_control control;
	int rc = proc_read(following->proc, following->head.code + USPL_TRACE_CONTROL, &control,
			   sizeof(control), err);

	if (rc)
		return rc;
	*ret = (struct trace_request){
		.entries = following->head.entries,
		.ring_bytes = following->head.ring_mask + 1,
		.keep_mcount = following->opts.keep_mcount,
		.depth = (unsigned)control.depth,
		.keeps = following->head.kept,
		.choice = tracing_choice(&following->opts),
	};
	return 0;
}

/* Traces what has come. */
static int add_libraries(struct following *following, struct uspl_err *err)
{
	pid_t pid = following->proc->pid;
	struct trace_request request;
	auto_view struct view view = { 0 };
	size_t parts;
	int rc = view_open_any(pid, true, &view, err);

	if (rc)
		return rc;
	if (!view.session.regions.n || !is_session(following, &view.session.regions.items[0].head))
		return 0;
	rc = read_request(following, &request, err);
	if (rc)
		return rc;
	rc = session_grow(view.proc, &view.modules, &request, &view.session, &following->passed,
			  &parts, err);
	if (rc || !parts)
		return rc;
	log_info("trace", "%zu libraries of pid %d are traced since they were opened", parts, pid);
	/* The next one has their files, too. */
	trace_keep_start(view.proc);
	return 0;
}

/* *again: something has to be done that can't be done yet. */
static int look(struct following *following, bool *again)
{
	struct uspl_err err = { 0 };
	int rc;

	if (!*again && linkmap_watch_same(following->proc, &following->watch))
		return 0;
	*again = false;
	rc = linkmap_watch_read(following->proc, following->debug, &following->watch, &err);
	if (!rc && !following->watch.settled)
		return 0;
	if (!rc)
		rc = add_libraries(following, &err);
	if (rc)
		log_info("trace", "libraries that were opened: %s", err.msg);
	malloc_trim(0);
	/* What passes by itself: another tool is at work, a debugger holds the process. */
	*again = rc == -USPL_E_BUSY || rc == -USPL_E_TRACED;
	return rc == -USPL_E_NOMEM ? rc : 0;
}

int trace_follow(int argc, char **argv, struct uspl_err *err)
{
	auto_following struct following following = { 0 };
	auto_vec cli_option_vec table = { 0 };
	struct cli_command cmd = {
		.name = "uspl-trace follow",
		.synopsis = "[OPTION]... PID",
		.summary = "This is for 'uspl-trace start'",
	};
	struct uspl_err why = { 0 };
	struct pollfd end = { .events = POLLIN };
	bool again = true;
	pid_t pid;
	int first, rc = tracing_add_options(&following.opts, false, &table, err);

	if (rc)
		return rc;
	cmd.options = table.items;
	cmd.n_options = table.n;
	rc = cli_parse(&cmd, argc, argv, &first, err);
	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (argc - first != 1)
		return uspl_fail(err, USPL_E_USAGE, "this is for 'uspl-trace start'");
	rc = cli_pid(argv[first], &pid, err);
	if (rc)
		return rc;
	prctl(PR_SET_NAME, "uspl-follower");
	if (chdir("/") < 0)
		return uspl_fail_errno(err, "cannot leave the folder");
	cancel_catch();
	rc = begin(&following, pid, &why);
	companion_ready(rc ? why.msg : "");
	end.fd = following.pidfd;
	while (!rc && !cancel_requested() && goes_on(&following)) {
		int64_t begun_ns = clock_now_ns(), pause_ms, least_ms;

		rc = look(&following, &again);
		pause_ms = (clock_now_ns() - begun_ns) * PAUSE_TIMES / 1000000;
		least_ms = following.watch.settled && !again ? LOOK_MS : SOON_MS;
		if (!rc && poll(&end, 1, (int)(pause_ms > least_ms ? pause_ms : least_ms)) > 0)
			break;
	}
	return rc ? rc : USPL_STATUS_DONE;
}
