/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers.h - a thread that is in the way, described for people */
#ifndef USPL_SAFETY_BLOCKERS_H
#define USPL_SAFETY_BLOCKERS_H

#include "safety/safety.h"

/* A finding in words. */
struct blocker {
	pid_t tid; /* 0: no thread, the function is on an inactive stack (inactive.h) */
	char thread[TASK_NAME_LEN]; /* the thread's name */
	char *function;             /* "" if the stack can't be read */
	char *chain; /* "poll < wait < serve < run": the chain of callers, innermost first */
	bool proven, unreadable;
	/* The function is the first of its thread: it returns when the thread ends. */
	bool outermost;
};

typedef VEC(struct blocker) blocker_vec;

/* Adds what the findings say, by the symbols of the modules. */
int blockers_describe(const struct proc *proc, const module_vec *modules,
		      const struct safety_finding *findings, size_t n, blocker_vec *ret,
		      struct uspl_err *err) uspl_must_check;
/* Frees the list. */
void blockers_release(blocker_vec *blockers);
DEFINE_AUTO_RELEASE(blockers, blocker_vec, blockers_release)
#define auto_blockers __attribute__((cleanup(cleanup_blockers_)))
/* Records USPL_E_BUSY with the thread, the function, the call chain, and the way out. */
int blocker_fail(pid_t pid, const struct blocker *blocker, struct uspl_err *err);

#endif
