/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_map.h - the names of new code as perf reads them, in /tmp/perf-PID.map */
#ifndef USPL_COMMAND_PERF_MAP_H
#define USPL_COMMAND_PERF_MAP_H

#include "record/region.h"

/* Appends a line for each function of a record: start and size in hex, name and update. */
void perf_map_add(const struct region *region, struct buf *out);
/*
 * Appends those of these records to the process's file in /tmp, which is made if there is none, or
 * one of an older process with that pid. starttime: of the process, clock ticks since boot.
 * USPL_E_CONFLICT if what has that name is no file of this user's own: a runtime that compiles has
 * such a file, and any user may have put something there.
 */
int perf_map_write(pid_t pid, uint64_t starttime, const region_vec *regions,
		   struct uspl_err *err) uspl_must_check;

#endif
