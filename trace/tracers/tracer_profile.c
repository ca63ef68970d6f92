// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_profile.c - how often each function was called and how long it took, added up

#include "trace/tally/call_report.h"
#include "trace/tracers/tracers.h"

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_PROFILE,
	.cell_len = sizeof(struct uspl_sums_cell),
	.entries = false,
	.report = call_report,
};

const struct tracer tracer_profile = {
	.name = "profile",
	.help = "how often each function was called and how long it took, added up",
	.tally = &tally,
};
