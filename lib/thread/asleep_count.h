/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asleep_count.h - which of the sleepers have run: for asleep.c, what asleep.h doesn't offer */
#ifndef USPL_THREAD_ASLEEP_COUNT_H
#define USPL_THREAD_ASLEEP_COUNT_H

#include "thread/asleep.h"

/*
 * The number of threads, without reading the folder (the links of /proc/PID/task); 0 if the process
 * is gone.
 */
size_t asleep_count_threads(const struct asleep *asleep);
/* Finds bounds for `dead`, after a look: some 1 us a thread. */
void asleep_find_dead(struct asleep *asleep);

#endif
