// SPDX-License-Identifier: GPL-3.0-or-later
// view.c - a process with its session

#include "trace/output/view.h"

#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "command/interrupted.h"
#include "proc/proc_lock.h"
#include "record/region_status.h"
#include "thread/thread.h"
#include "trace/engine/shared_map.h"
#include "trace/engine/session.h"

double view_wait_s = 10;

/* A start by another tool is looked at again. */
#define START_PAUSE_NS 10000000

/*
 * An update that was left in the middle of its switch has to be decided before others can be at
 * work.
 */
static int complete_interrupted(struct proc *proc, struct uspl_err *err)
{
	struct live_options opts = LIVE_OPTIONS_DEFAULT;
	struct uspl_err note = { 0 };
	auto_modules module_vec modules = { 0 };
	auto_regions region_vec regions = { 0 };
	int rc = regions_read(proc, &regions, err);

	if (rc || !regions.n)
		return rc;
	rc = modules_read(proc, &modules, err);
	if (rc)
		return rc;
	region_status_find_gone(proc, &modules, &regions);
	opts.wait_s = view_wait_s;
	rc = interrupted_complete(proc, &modules, &regions, NULL, &opts, &note, err);
	if (note.msg[0])
		uspl_err_note(stderr, &note);
	return rc;
}

static int lock_and_sweep(pid_t pid, struct proc **ret, size_t *ret_swept, struct uspl_err *err)
{
	auto_proc struct proc *proc = NULL;
	int64_t deadline = clock_now_ns() + (int64_t)(view_wait_s * 1e9);
	int rc = proc_open_locked(pid, deadline, &proc, err);

	if (rc)
		return rc;
	rc = complete_interrupted(proc, err);
	if (rc)
		return rc;
	rc = shared_maps_sweep(proc, ret_swept, err);
	if (rc)
		return rc;
	*ret = take_ptr(proc);
	return 0;
}

int view_lock(pid_t pid, struct proc **ret, struct uspl_err *err)
{
	size_t swept;

	return lock_and_sweep(pid, ret, &swept, err);
}

int view_start(struct proc *proc, const struct trace_request *request, struct trace_switch *ret,
	       struct uspl_err *err)
{
	auto_modules module_vec modules = { 0 };
	int rc = modules_read(proc, &modules, err);

	if (rc)
		return rc;
	return session_start(proc, &modules, request, ret, err);
}

/* True as long as no function of the session has been traced. */
static bool is_loading(const struct trace_session *session)
{
	const struct trace_region *region;

	vec_for_each (&session->regions, region)
		if (region->head.state != USPL_TRACE_LOADED)
			return false;
	return session->regions.n > 0;
}

/*
 * What another tool is about to start has no records yet: it is waited for, or the tool may have
 * died in the middle of it.
 */
static int read_session(const struct proc *proc, struct trace_session *ret, struct uspl_err *err)
{
	const struct timespec pause = { 0, START_PAUSE_NS };
	const int64_t deadline = clock_now_ns() + (int64_t)(view_wait_s * 1e9);
	int rc;

	for (;;) {
		auto_session struct trace_session session = { 0 };
		bool is_locked = proc_is_locked(proc);

		rc = trace_session_read(proc, &session, err);
		if (rc)
			return rc;
		if (!is_loading(&session)) {
			*ret = session;
			session = (struct trace_session){ 0 };
			return 0;
		}
		if (!is_locked)
			break;
		if (clock_now_ns() >= deadline) {
			uspl_fail(err, USPL_E_BUSY, "another uspl is starting to trace pid %d",
				  proc->pid);
			uspl_hint(err, "there are no records yet");
			return -USPL_E_BUSY;
		}
		rc = cancel_check(err);
		if (rc)
			return rc;
		nanosleep(&pause, NULL);
	}
	uspl_fail(err, USPL_E_NOT_APPLIED, "pid %d is not traced: a start didn't come to its end",
		  proc->pid);
	uspl_hint(err, "'uspl-trace stop %d' takes away what it has left there", proc->pid);
	return -USPL_E_NOT_APPLIED;
}

int view_open_any(pid_t pid, bool write, struct view *ret, struct uspl_err *err)
{
	auto_view struct view view = { 0 };
	int rc = write ? lock_and_sweep(pid, &view.proc, &view.swept, err)
		       : proc_open_readonly(pid, &view.proc, err);

	if (rc)
		return rc;
	rc = write ? trace_session_read(view.proc, &view.session, err)
		   : read_session(view.proc, &view.session, err);
	if (rc)
		return rc;
	rc = modules_read(view.proc, &view.modules, err);
	if (rc)
		return rc;
	*ret = view;
	view = (struct view){ 0 };
	return 0;
}

int view_open(pid_t pid, bool write, struct view *ret, struct uspl_err *err)
{
	int rc = view_open_any(pid, write, ret, err);

	if (rc || ret->session.regions.n || ret->swept)
		return rc;
	view_release(ret);
	uspl_fail(err, USPL_E_NOT_APPLIED, "pid %d is not traced", pid);
	uspl_hint(err, "'uspl-trace start %d' starts it", pid);
	return -USPL_E_NOT_APPLIED;
}

void view_release(struct view *view)
{
	trace_session_release(&view->session);
	modules_release(&view->modules);
	proc_free(view->proc);
	view->proc = NULL;
}
