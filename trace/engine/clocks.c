// SPDX-License-Identifier: GPL-3.0-or-later
// clocks.c - the runtime's clock and the kernel's

#include "trace/engine/clocks.h"

#include <time.h>

#include "arch/arch.h"

#define TRIES 5
#define CALIBRATION_NS 10000000

/* The reading with the least time between the clocks: one that wasn't interrupted. */
void clocks_read(struct trace_clocks *ret)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = arch_native()->ticks(), after;
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		after = arch_native()->ticks();
		if (after - before >= best)
			continue;
		best = after - before;
		ret->ticks = before + (after - before) / 2;
		ret->ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	}
}

double clocks_ns_per_tick(const struct trace_clocks *from, const struct trace_clocks *to)
{
	return to->ticks == from->ticks
		       ? 0
		       : (double)(to->ns - from->ns) / (double)(to->ticks - from->ticks);
}

uint64_t clocks_ticks(double seconds)
{
	const struct timespec pause = { 0, CALIBRATION_NS };
	struct trace_clocks from, to;
	double ns_per_tick;

	clocks_read(&from);
	nanosleep(&pause, NULL);
	clocks_read(&to);
	ns_per_tick = clocks_ns_per_tick(&from, &to);
	return ns_per_tick > 0 ? (uint64_t)(seconds * 1e9 / ns_per_tick) : 0;
}
