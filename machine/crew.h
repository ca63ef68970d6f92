/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crew.h - work on many processes at once, in children
 *
 * As many children work as there are processors, so that none waits for another while a target
 * stands still for it. A child that waits itself, for a busy function to be left, doesn't count, up
 * to a bound. What is printed about a process is printed at once. When a child dies, only the work
 * on the process that it was at is lost.
 */
#ifndef USPL_MACHINE_CREW_H
#define USPL_MACHINE_CREW_H

#include "base/error.h"
#include "base/vec.h"
#include "machine/census.h"

struct crew_member {
	struct census_process process; /* of a named one: its pid alone */
	bool named;
};

typedef VEC(struct crew_member) crew_vec;

struct crew_work {
	/* In the child: works on the process, prints, and returns an exit status. */
	int (*run)(const struct crew_member *member, const void *ctx);
	/* In the parent: prints that the work has failed; why has the cause. */
	void (*fail)(const struct crew_member *member, const struct uspl_err *why, const void *ctx);
	const void *ctx;
};

/*
 * Works on all members, and returns the worst exit status. Signals that cancel are handed on to the
 * children (base/cancel.h), and to those that are begun later.
 */
int crew_run(const crew_vec *members, const struct crew_work *work);

#endif
