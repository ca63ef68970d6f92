/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_ring.h - the memory in which the kernel notes what a perf event is to tell */
#ifndef USPL_PERF_PERF_RING_H
#define USPL_PERF_PERF_RING_H

#include <linux/perf_event.h>

#include "base/error.h"

struct perf_ring {
	void *map;  /* a page that says how far it is filled, then the notes; NULL: not mapped */
	size_t len; /* of the notes; whole pages, a power of two */
};

/* Opens an event (perf_event_open(2), closed on exec). Returns the descriptor, or -1 and errno. */
int perf_event_fd(const struct perf_event_attr *attr, pid_t tid, int cpu);

/* Maps the ring of an event. The descriptor stays the caller's. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t len, struct uspl_err *err) uspl_must_check;
/* Unmaps it; one that isn't mapped is fine. */
void perf_ring_unmap(struct perf_ring *ring);

/*
 * Calls visit for each new note, in their order; a note lies in one piece, and is good for the time
 * of the call only. Notes that were visited make room for others. Stops at a failure of visit, and
 * returns it: the note that failed counts as read.
 */
int perf_ring_read(struct perf_ring *ring,
		   int (*visit)(void *ctx, const struct perf_event_header *note), void *ctx);

#endif
