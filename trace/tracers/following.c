// SPDX-License-Identifier: GPL-3.0-or-later
// following.c - libraries that a traced process opens, noticed and traced
//
// The session is known by its record in the process.

#include "trace/tracers/following.h"

#include <malloc.h>

#include "base/clock.h"
#include "base/log.h"
#include "proc/dynsym.h"
#include "trace/output/view.h"

#define LOOK_MS 50
/* A library is on its way, or another tool is at work. */
#define SOON_MS 5
/* Where libraries come and go all the time, what is done for them takes a tenth of the time. */
#define PAUSE_TIMES 9

int following_begin(struct following *following, pid_t pid, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	auto_modules module_vec modules = { 0 };
	auto_dynsyms struct dynsyms *dyn = NULL;
	int rc = proc_open_readonly(pid, &following->proc, err);

	if (rc)
		return rc;
	rc = trace_session_read(following->proc, &session, err);
	if (rc)
		return rc;
	if (!session.regions.n)
		return uspl_fail(err, USPL_E_NOT_APPLIED, "it isn't traced");
	following->head = session.regions.items[0].head;
	/* What came before it was begun is looked at, too. */
	following->again = true;
	rc = modules_read(following->proc, &modules, err);
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

void following_release(struct following *following)
{
	linkmap_watch_release(&following->watch);
	vec_release(&following->passed);
	proc_free(following->proc);
}

static bool is_session(const struct following *following, const struct uspl_trace_region *head)
{
	return head->magic == following->head.magic && head->session == following->head.session &&
	       head->state == USPL_TRACE_ON;
}

bool following_goes_on(const struct following *following)
{
	struct uspl_trace_region head;

	return proc_read_some(following->proc, following->head.self, &head, sizeof(head)) ==
		       sizeof(head) &&
	       is_session(following, &head);
}

/* Whether what has come is wanted. */
static int check_modules(struct following *following, bool *ret_wanted, struct uspl_err *err)
{
	auto_session struct trace_session session = { 0 };
	auto_modules module_vec modules = { 0 };
	int rc = proc_refresh_maps(following->proc, err);

	if (rc)
		return rc;
	rc = modules_read(following->proc, &modules, err);
	if (rc)
		return rc;
	rc = trace_session_read(following->proc, &session, err);
	if (rc)
		return rc;
	*ret_wanted = session_can_grow(following->proc, &modules, &following->choice, &session,
				       &following->passed);
	return 0;
}

bool following_has_news(struct following *following)
{
	bool is_wanted = false;
	struct uspl_err err = { 0 };
	int rc;

	following->taken_ns = 0;
	if (!following->again && linkmap_watch_same(following->proc, &following->watch))
		return false;
	following->again = false;
	rc = linkmap_watch_read(following->proc, following->debug, &following->watch, &err);
	if (!rc && following->watch.settled)
		rc = check_modules(following, &is_wanted, &err);
	if (rc)
		log_info("trace", "libraries that were opened: %s", err.msg);
	return is_wanted;
}

static int add_libraries(struct following *following, struct uspl_err *err)
{
	pid_t pid = following->proc->pid;
	const struct uspl_trace_region *head = &following->head;
	struct uspl_trace_control control;
	struct trace_request request;
	auto_view struct view view = { 0 };
	size_t parts;
	int rc = view_open_any(pid, true, &view, err);

	if (rc)
		return rc;
	if (!view.session.regions.n || !is_session(following, &view.session.regions.items[0].head))
		return 0;
	/* The request of the start, as far as it concerns what comes later. */
	rc = proc_read(following->proc, head->code + USPL_TRACE_CONTROL, &control, sizeof(control),
		       err);
	if (rc)
		return rc;
	request = (struct trace_request){
		.entries = head->entries,
		.ring_bytes = head->ring_mask + 1,
		.keep_mcount = following->keep_mcount,
		.depth = (unsigned)control.depth,
		.keeps = head->kept,
		.choice = following->choice,
	};
	rc = session_grow(view.proc, &view.modules, &request, &view.session, &following->passed,
			  following->loaded, &parts, err);
	if (!rc && parts)
		log_info("trace", "%zu libraries of pid %d are traced since they were opened",
			 parts, pid);
	return rc;
}

int following_take(struct following *following, struct uspl_err *err)
{
	int64_t begun_ns = clock_now_ns();
	struct uspl_err why = { 0 };
	int rc = add_libraries(following, &why);

	if (rc)
		log_info("trace", "libraries that were opened: %s", why.msg);
	malloc_trim(0);
	following->taken_ns = clock_now_ns() - begun_ns;
	/* What passes by itself: another tool is at work, a debugger holds the process. */
	following->again = rc == -USPL_E_BUSY || rc == -USPL_E_TRACED;
	if (rc != -USPL_E_NOMEM)
		return 0;
	if (err)
		*err = why;
	return rc;
}

int following_pause_ms(const struct following *following)
{
	int64_t pause_ms = following->taken_ns * PAUSE_TIMES / 1000000;
	int64_t least_ms = following->watch.settled && !following->again ? LOOK_MS : SOON_MS;

	return (int)(pause_ms > least_ms ? pause_ms : least_ms);
}
