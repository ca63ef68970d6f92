/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - what was done to a process, in a line for people or an object for programs
 *
 * apply, undo and view speak of processes and functions in the same words, which stand here. This
 * prints, because that is its job; nothing else in lib/ does.
 */
#ifndef USPL_REPORT_REPORT_H
#define USPL_REPORT_REPORT_H

#include "base/json.h"
#include "live/region.h"

enum report_action {
	REPORT_APPLIED,
	REPORT_ALREADY_APPLIED, /* nothing had to be done */
	REPORT_UNDONE,
	REPORT_ALREADY_UNDONE,
};

/* What apply or undo did to one process. */
struct report {
	enum report_action action;
	const char *id;
	pid_t pid;
	const region_vec *regions; /* of the process; those of other updates are passed over */
	uint64_t stop_us;          /* how long the process stood still; 0 if nothing was done */
	int attempts;              /* how often it was stopped; 0 if nothing was done */
};

/*
 * Prints a success to stdout: a line, or with json an object on a line. With -q only JSON is
 * printed.
 */
int report_print(const struct report *report, bool json, struct uspl_err *err) uspl_must_check;
/*
 * Prints a failure as an object on a line of stdout, for --json. The message on stderr is main's,
 * as ever.
 */
int report_print_failure(const char *id, pid_t pid, const struct uspl_err *failure,
			 struct uspl_err *err) uspl_must_check;
/* Ends a JSON text with a line end and prints it to stdout. */
int report_print_json(const struct json *json, struct uspl_err *err) uspl_must_check;

/* Adds "functions": [{"name","old","new","module"}] of the regions that are part of the update. */
void report_functions(struct json *json, const region_vec *regions, const char *id);
/* How many functions the update redirects in these regions. */
size_t report_count_functions(const region_vec *regions, const char *id);

#endif
