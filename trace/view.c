// SPDX-License-Identifier: GPL-3.0-or-later
// view.c - a process with its session

#include "trace/trace.h"

int view_open(pid_t pid, bool write, struct view *ret, struct uspl_err *err)
{
	struct view view = { 0 };
	int rc = write ? proc_open(pid, &view.proc, err) : proc_open_readonly(pid, &view.proc, err);

	if (!rc)
		rc = modules_read(view.proc, &view.modules, err);
	if (!rc)
		rc = session_read(view.proc, &view.session, err);
	if (!rc && !view.session.regions.n) {
		uspl_fail(err, USPL_E_NOT_APPLIED, "pid %d is not traced", pid);
		uspl_hint(err, "'uspl-trace start %d' starts it", pid);
		rc = -USPL_E_NOT_APPLIED;
	}
	if (rc) {
		view_release(&view);
		return rc;
	}
	*ret = view;
	return 0;
}

void view_release(struct view *view)
{
	session_release(&view->session);
	modules_release(&view->modules);
	proc_free(view->proc);
	view->proc = NULL;
}
