/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_dirs.h - where the debugging information of updates is looked for */
#ifndef USPL_VIEW_DEBUG_DIRS_H
#define USPL_VIEW_DEBUG_DIRS_H

#include "base/cli.h"
#include "view/debug_link.h"

/* Where packages of debugging information have it. */
#define DEBUG_DIRS_INSTALLED "/usr/lib/debug/uspl"

struct debug_dirs {
	cli_strings named; /* looked into first */
	/* A new folder for sources that the tree has in another form; NULL: all are the tree's. */
	const char *sources;
};

/*
 * Looks for the file uspl-ID.debug of a region's update: in the folders that were named, in
 * DEBUG_DIRS_INSTALLED, and beside the update among those that are enabled. Appends what it has to
 * debug. That there is none is no failure. A file that can't be used is a note: one that is
 * damaged, or belongs to another update of the id.
 */
int debug_dirs_add(const struct debug_dirs *dirs, const struct proc *proc,
		   const struct region *region, struct debug_link *debug,
		   struct uspl_err *err) uspl_must_check;

#endif
