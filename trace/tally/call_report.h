/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_report.h - the report of tracers that add up calls for each thread: count, profile */
#ifndef USPL_TRACE_TALLY_CALL_REPORT_H
#define USPL_TRACE_TALLY_CALL_REPORT_H

#include "trace/tally/call_sums.h"

/* USPL_E_USAGE if it can't be sorted by that; times: they are known. */
int call_report_check(const char *sort, bool times, struct uspl_err *err) uspl_must_check;
/* Appends it; tally->opts says what is wanted. As tracer_tally.report. */
int call_report(struct tally *tally, bool json, struct buf *out,
		struct uspl_err *err) uspl_must_check;

#endif
