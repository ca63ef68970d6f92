/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fleet.h - a command for many processes: those that were named, and those that are selected
 *
 * Selected processes are looked for again until no new one is found that something is to be done
 * with: a server may fork while its workers are patched one by one.
 */
#ifndef USPL_MACHINE_FLEET_H
#define USPL_MACHINE_FLEET_H

#include "machine/crew.h"
#include "machine/search.h"

struct fleet {
	const struct selection *sel;
	struct crew_work work;
	/* What search.h asks of a process, with work.ctx. */
	int (*look)(struct proc *proc, const void *ctx, enum search_answer *ret,
		    struct uspl_err *err);
	const char *todo;    /* of processes: "run a target of the update and lack it" */
	const char *what;    /* the same, whether or not there is something to be done */
	enum uspl_code none; /* that no process does */
	bool once;           /* nothing is changed: there is no second search */
};

/*
 * Works on all of them, of which at least one is named, or there are selectors. A single one that
 * is named is worked on by this process itself. Returns the worst exit status, or a negative code
 * if nothing was begun, for instance since there is no such process.
 */
int fleet_run(const struct fleet *fleet, struct uspl_err *err);

#endif
