/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * branches.h - the branches of a process that say what is expected of them (include/uspl/branch.h)
 *
 * While they are on each way of a branch counts in the program itself, in memory of its own:
 * nothing is loaded. What is at a site decides whether it is on.
 */
#ifndef USPL_TRACE_PROBE_BRANCHES_H
#define USPL_TRACE_PROBE_BRANCHES_H

#include "base/vec.h"
#include "proc/module.h"

/* A NOP in the program's way, and where it leads while it is on. */
struct branch_site {
	taddr site, on;
};

/* A place that counts. Several may count the same way of the same branch. */
struct branch_count {
	taddr code;  /* where it does */
	taddr count; /* 8 bytes */
	char *file;
	int line;
	bool right;     /* the way that was expected */
	uint64_t value; /* when it was last read */
};

struct branches {
	VEC(struct branch_site) sites;
	VEC(struct branch_count) counts; /* by where they count, after branches_read */
};

/* Appends those of a module, and of the updates that it has. */
int branches_find(const struct proc *proc, const struct module *module, struct branches *ret,
		  struct uspl_err *err) uspl_must_check;
void branches_release(struct branches *branches);

/* Reads what was counted since the program began. */
int branches_read(const struct proc *proc, struct branches *branches,
		  struct uspl_err *err) uspl_must_check;
/*
 * Switches all of them on or off, those that aren't yet, while the program runs. proc: to be
 * written, and locked.
 */
int branches_switch(struct proc *proc, const module_vec *modules, const struct branches *branches,
		    bool on, struct uspl_err *err) uspl_must_check;

#endif
