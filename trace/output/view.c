// SPDX-License-Identifier: GPL-3.0-or-later
// view.c - a process with its session

#include "trace/output/view.h"

#include "command/interrupted.h"
#include "proc/proc_lock.h"
#include "record/region_status.h"
#include "thread/thread.h"
#include "trace/engine/shared_map.h"
#include "trace/engine/session.h"

double view_wait_s = 10;

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

int view_open_any(pid_t pid, bool write, struct view *ret, struct uspl_err *err)
{
	auto_view struct view view = { 0 };
	int rc = write ? lock_and_sweep(pid, &view.proc, &view.swept, err)
		       : proc_open_readonly(pid, &view.proc, err);

	if (rc)
		return rc;
	rc = modules_read(view.proc, &view.modules, err);
	if (rc)
		return rc;
	rc = trace_session_read(view.proc, &view.session, err);
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
