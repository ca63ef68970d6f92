/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallel.h - jobs that don't depend on each other, on all processors */
#ifndef USPL_BASE_PARALLEL_H
#define USPL_BASE_PARALLEL_H

#include <stddef.h>

/*
 * Calls job once for each index below n, from as many threads as there are processors, and returns
 * when all are done. A job writes to nothing that another one uses. Where no more threads can be
 * made, those that there are do it all: at least the caller.
 */
void parallel_run(size_t n, void (*job)(size_t index, void *ctx), void *ctx);

#endif
