/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocked_count.h - which of the sleepers have run: for blocked.c, what blocked.h doesn't offer */
#ifndef USPL_THREAD_BLOCKED_COUNT_H
#define USPL_THREAD_BLOCKED_COUNT_H

#include "thread/blocked.h"

/*
 * The number of threads, without reading the folder (the links of /proc/PID/task); 0 if the process
 * is gone.
 */
size_t blocked_count_threads(const struct blocked *blocked);
/* Finds bounds for `dead`, after a look: some 1 us a thread. */
void blocked_find_dead(struct blocked *blocked);

#endif
