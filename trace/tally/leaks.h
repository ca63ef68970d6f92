/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks.h - blocks that the program has allocated and that nothing points to any more */
#ifndef USPL_TRACE_TALLY_LEAKS_H
#define USPL_TRACE_TALLY_LEAKS_H

#include "base/error.h"
#include "uspl/listen_abi.h"

struct leak_sum {
	uint64_t blocks, bytes;
};

struct leaks {
	struct leak_sum sum, sites[USPL_ALLOC_SITES]; /* by the number of the call site */
	double stop_us;                               /* the longest that the process stood still */
};

/*
 * Looks twice (reach.h), and takes what nothing pointed to at either time: a pointer that is moved
 * may be missed once. Mappings count as memory of the program's, and never as leaks. Locks the
 * process. own: as read from it; ret: zeroed.
 */
int leaks_find(pid_t pid, const struct uspl_alloc *own, struct leaks *ret,
	       struct uspl_err *err) uspl_must_check;

#endif
