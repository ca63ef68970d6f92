/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - which of the processes that are selected a command has to do with
 *
 * The memory of any user's processes is looked at, by a child which can do nothing but look
 * (base/confine.h), with a budget for each process (proc_open_scan). A process that the child dies
 * of is left out. So is one that keeps it waiting (machine/lookout.h), with the others of its user.
 */
#ifndef USPL_MACHINE_SEARCH_H
#define USPL_MACHINE_SEARCH_H

#include "base/strmap.h"
#include "machine/census.h"
#include "proc/proc.h"

enum search_answer {
	SEARCH_OTHER,    /* the command has nothing to do with it */
	SEARCH_DONE,     /* it has, and nothing is left to be done */
	SEARCH_OPEN,     /* something is to be done */
	SEARCH_LEFT_OUT, /* it isn't to be looked at again; a note said why */
};

struct search {
	const struct selection *sel;
	/*
	 * Looks at one process. The message of USPL_E_HOSTILE and USPL_E_FORMAT is printed as a
	 * note, and the process is left out; other failures count as SEARCH_OTHER.
	 */
	int (*look)(struct proc *proc, const void *ctx, enum search_answer *ret,
		    struct uspl_err *err);
	const void *ctx;
	struct strmap known; /* search_know's */
	VEC(uid_t) slow;     /* users, but for root, whose processes have kept a child waiting */
};

struct search_found {
	struct census_process process;
	enum search_answer answer; /* DONE or OPEN */
};

struct search_result {
	VEC(struct search_found) found; /* in the order of their pids */
	size_t n_meant;                 /* the selectors mean so many, without known ones */
	size_t n_denied;                /* so many of these may not be read by this user */
	size_t n_hidden;                /* census_take's */
};

/*
 * Looks at all processes that the selectors mean and that aren't known. Fails with USPL_E_CANCELLED
 * after a signal.
 */
int search_run(struct search *search, struct search_result *ret,
	       struct uspl_err *err) uspl_must_check;
void search_result_release(struct search_result *result);
void search_release(struct search *search);
/* The process isn't looked at again. */
int search_know(struct search *search, const struct census_process *process,
		struct uspl_err *err) uspl_must_check;
/* True if search_know was called for it. */
bool search_knows(const struct search *search, const struct census_process *process);

DEFINE_AUTO_RELEASE(search_result, struct search_result, search_result_release)
#define auto_search_result __attribute__((cleanup(cleanup_search_result_)))

#endif
