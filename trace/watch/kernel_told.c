// SPDX-License-Identifier: GPL-3.0-or-later
// kernel_told.c - what the kernel has told of a process whose calls are read in the end only

#include "trace/watch/kernel_told.h"

#include <string.h>

#define EVENTS_MAX 4000000 /* 48 bytes each */

void kernel_told_release(struct kernel_told *told)
{
	kernel_watch_close(&told->watch);
	vec_release(&told->log.events);
}

void kernel_told_ask(struct kernel_told *told)
{
	kernel_events *events = &told->log.events;
	uint64_t half = events->n / 2;

	if (told->err.code || kernel_watch_read(&told->watch, false, &told->log, &told->err) ||
	    events->n < EVENTS_MAX)
		return;
	memmove(events->items, events->items + half, (events->n - half) * sizeof(*events->items));
	events->n -= half;
	told->dropped += half;
}

int kernel_told_take(void *what, bool last, struct kernel_log *log, struct uspl_err *err)
{
	struct kernel_told *told = what;
	int rc = -(int)told->err.code;

	if (rc && err)
		*err = told->err;
	if (!rc)
		rc = kernel_watch_read(&told->watch, last, &told->log, err);
	told->log.lost += told->dropped;
	*log = told->log;
	told->log = (struct kernel_log){ 0 };
	return rc;
}
