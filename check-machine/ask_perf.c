// SPDX-License-Identifier: GPL-3.0-or-later
// ask_perf.c - perf events, and what of the kernel they may show

#include "check-machine/ask.h"
#include "perf/perf.h"

#define RING_LEN 65536

/* What is asked for, from the least to the most. */
static const struct {
	const char *what;
	struct perf_kind kind;
	const char *system, *tracepoint; /* NULL: no tracepoint */
} sights[] = {
	{ .what = "switches of threads",
	  .kind.attr = { .type = PERF_TYPE_SOFTWARE,
			 .config = PERF_COUNT_SW_DUMMY,
			 .exclude_kernel = 1,
			 .context_switch = 1 } },
	{ .what = "code of the kernel",
	  .kind.attr = { .type = PERF_TYPE_SOFTWARE,
			 .config = PERF_COUNT_SW_CPU_CLOCK,
			 .sample_period = 1000000 } },
	{ .what = "whole processors",
	  .kind = { .attr = { .type = PERF_TYPE_SOFTWARE,
			      .config = PERF_COUNT_SW_CPU_CLOCK,
			      .sample_period = 1000000 },
		    .everybody = true } },
	{ .what = "tracepoints (tracefs)", .system = "raw_syscalls", .tracepoint = "sys_enter" },
};

static int open_sight(struct ask *ask, size_t i, struct perf *perf, struct uspl_err *err)
{
	struct perf_kind kind = sights[i].kind;
	int rc;

	if (sights[i].tracepoint) {
		rc = perf_tracepoint(sights[i].system, sights[i].tracepoint, &kind.attr, err);
		if (rc)
			return rc;
	}
	rc = perf_open(perf, ask->proc, &kind, 1, RING_LEN, err);
	if (rc)
		return rc;
	return perf_enable(perf, err);
}

void ask_perf(struct ask *ask)
{
	auto_buf struct buf refused = { 0 };
	struct uspl_err first = { 0 };
	size_t n_refused = 0;

	if (!ask->proc)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sights); i++) {
		struct uspl_err why = { 0 };
		struct perf perf = { 0 };
		int rc = open_sight(ask, i, &perf, &why);

		perf_close(&perf);
		if (!rc)
			continue;
		buf_addf(&refused, "%s%s", n_refused ? ", " : "", sights[i].what);
		if (!n_refused++)
			first = why;
	}
	if (!n_refused) {
		answers_add(&ask->answers, "perf-events", VERDICT_OK,
			    "all that tracers ask for is told");
		return;
	}
	uspl_context(&first, "not told: %s", buf_str(&refused));
	answers_add_err(&ask->answers, "perf-events",
			n_refused == ARRAY_SIZE(sights) ? VERDICT_NO : VERDICT_LIMITED, "", &first);
}
