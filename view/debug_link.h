/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_link.h - the debugging information of a process's new code, linked for where that lies */
#ifndef USPL_VIEW_DEBUG_LINK_H
#define USPL_VIEW_DEBUG_LINK_H

#include "record/region.h"
#include "update/debug_file.h"

/* A section of the result: that of all updates, one behind the other. */
struct debug_section {
	char *name;
	struct buf bytes;
	size_t kept; /* so many of them stay, if what comes next can't be linked */
};

struct debug_link {
	VEC(struct debug_section) sections;
};

/*
 * Appends the information of a region's code. sources: in place of the file's tree, where sources
 * are to be looked for; NULL: in that. *ret_fits stays false if none of the file's targets is that
 * code, and nothing is appended then. USPL_E_FILE: the file is damaged.
 */
int debug_link_add(struct debug_link *debug, const struct proc *proc, const struct region *region,
		   const struct debug_file *file, const char *sources, bool *ret_fits,
		   struct uspl_err *err) uspl_must_check;
void debug_link_release(struct debug_link *debug);

#endif
