/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - what apply and undo say about one process
 *
 * Text: "applied k3x9 to pid 4711: 3 functions, stopped 84 us". JSON, one object to a line:
 * {"id","pid","state","functions":[{"name","old","new","module"}],"stop_us","attempts"}, and after a
 * failure {"id","pid","state","error","message"}.
 */
#ifndef USPL_LIVE_REPORT_H
#define USPL_LIVE_REPORT_H

#include "base/json.h"
#include "live/transition.h"

struct report {
	const char *id;
	pid_t pid;
	enum transition_direction direction;
	bool already;              /* nothing was to be done */
	const region_vec *regions; /* of the process; those with the id are shown */
	struct transition_result result;
};

/*
 * Appends the line or the object, with its line end. err is NULL for a success; a failure has no
 * line, its message goes to stderr.
 */
void report_outcome(const struct report *report, const struct uspl_err *err, bool json,
		    struct buf *out);
/* Adds "functions":[...] of the regions with that id to an open object. */
void report_functions(struct json *json, const region_vec *regions, const char *id);

#endif
