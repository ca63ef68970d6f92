// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_count.c - how often each function was called

#include "trace/tally/call_report.h"
#include "trace/tracers/tracers.h"

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_COUNT,
	.cell_len = sizeof(uint64_t),
	.entries = true,
	.report = call_report,
};

const struct tracer tracer_count = {
	.name = "count",
	.help = "how often each function was called",
	.tally = &tally,
};
