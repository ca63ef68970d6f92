// SPDX-License-Identifier: GPL-3.0-or-later
// backend.c - what the ways to switch have in common

#include "switch/backend.h"

const struct region *backend_region(const struct run *run, size_t i)
{
	const struct transition *t = run->t;

	if (i < t->n_regions)
		return t->regions[i];
	return i < t->n_regions + t->n_replaced ? t->replaced[i - t->n_regions] : NULL;
}

int64_t backend_limit_ns(const struct run *run)
{
	double limit_s = run->t->max_pause_s;

	return limit_s > 0 ? (int64_t)(limit_s * 1e9 / 2) : STOP_LIMIT_NS;
}

int64_t backend_deadline(const struct run *run)
{
	int64_t began = run->stop.entered_ns;

	return (began ? began : clock_now_ns()) + backend_limit_ns(run);
}

bool backend_may_try_again(const struct run *run)
{
	return run->t->max_pause_s > 0 || !run->stop.stuck;
}

struct safety_finding *backend_next_finding(struct run *run)
{
	return &run->findings[run->n_findings < WAITER_MAX ? run->n_findings : WAITER_MAX - 1];
}

void backend_add_finding(struct run *run)
{
	if (run->n_findings < WAITER_MAX)
		run->n_findings++;
}
