/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_diff.h - uspl-trace report --diff: a report beside that of an older trace */
#ifndef USPL_TRACE_REPORT_REPORT_DIFF_H
#define USPL_TRACE_REPORT_REPORT_DIFF_H

#include "trace/report/report_rows.h"

/*
 * Prints a line for each function of the report or of the saved trace at path: its numbers, and how
 * they differ from the older ones; the largest difference by key first. Functions are the same if
 * their names and their modules' names are. USPL_E_UNSUPPORTED if one of the two has durations, and
 * the other one has none.
 */
int report_diff(struct reader *reader, const totals_vec *all, const char *path, enum report_key key,
		const struct report_style *style, struct uspl_err *err) uspl_must_check;

#endif
