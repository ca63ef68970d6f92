/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clocks.h - the runtime's clock and the kernel's
 *
 * Records hold ticks of the processor's clock, which is the cheapest to read. How long a tick is
 * follows from two moments of which both clocks are known.
 */
#ifndef USPL_TRACE_ENGINE_CLOCKS_H
#define USPL_TRACE_ENGINE_CLOCKS_H

#include "base/types.h"

/* One moment. */
struct trace_clocks {
	uint64_t ticks;
	int64_t ns; /* CLOCK_MONOTONIC */
};

/* Now. */
void clocks_read(struct trace_clocks *ret);
/* Nanoseconds of a tick, from two moments; 0 if they are the same. */
double clocks_ns_per_tick(const struct trace_clocks *from, const struct trace_clocks *to);
/* So many seconds in ticks; takes some milliseconds to find out. */
uint64_t clocks_ticks(double seconds);

#endif
