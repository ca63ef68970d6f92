/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.h - a process with its session, for the subcommands that look at one */
#ifndef USPL_TRACE_OUTPUT_VIEW_H
#define USPL_TRACE_OUTPUT_VIEW_H

#include "proc/module.h"
#include "record/trace_records.h"

struct trace_request;
struct trace_switch;

/*
 * How long commands that change a process wait for what passes by itself: another tool that is at
 * work in it, a thread that gets no processor.
 */
extern double view_wait_s;
/* The line for that in a command's table. */
/* clang-format off */
#define VIEW_WAIT_OPTION                                                                           \
	{ 'w', "wait", "SECONDS", CLI_SECONDS, &view_wait_s,                                       \
	  "how long to wait for another tool, or for threads to stop (default 10)" }
/* clang-format on */

/* A process with its session, for the subcommands that look at one. */
struct view {
	struct proc *proc;
	module_vec modules;
	struct trace_session session;
	size_t swept; /* blocks of memory that a tool which died, or failed, had left there */
};

/*
 * Opens a process that is to be changed, and unmaps what tools that died have left; one tool at a
 * time (proc/proc_lock.h).
 */
int view_lock(pid_t pid, struct proc **ret, struct uspl_err *err) uspl_must_check;
/* session_start in all modules that the process has now. */
int view_start(struct proc *proc, const struct trace_request *request, struct trace_switch *ret,
	       struct uspl_err *err) uspl_must_check;
/*
 * write: the process is to be changed, too. If not, a start that another tool is at is waited for
 * (USPL_E_BUSY); USPL_E_NOT_APPLIED if one was left before any function was traced.
 */
int view_open_any(pid_t pid, bool write, struct view *ret, struct uspl_err *err) uspl_must_check;
/*
 * The same; USPL_E_NOT_APPLIED if no functions are traced there. None are, and that is no failure,
 * if what was left of an earlier session has just been unmapped.
 */
int view_open(pid_t pid, bool write, struct view *ret, struct uspl_err *err) uspl_must_check;
void view_release(struct view *view);
DEFINE_AUTO_RELEASE(view, struct view, view_release)
#define auto_view __attribute__((cleanup(cleanup_view_)))

#endif
