/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - what apply and undo say about one process
 *
 * Text: "applied k3x9 to pid 4711: 3 functions, stopped 84 us". JSON, one object to a line:
 * {"id","pid","state","functions":[{"name","old","new","module"}],"stop_us","attempts"}, with
 * "pending":[...] where libraries are, "replaced":[...] where updates were, and after a failure
 * {"id","pid","state","error","message"}; with "hooks":[{"name","kind","us","result"}] where some
 * were called, with "signal" or "late" in the place of "result" if that ended it.
 *
 * With --check: "k3x9 can be applied to pid 4711: 3 functions, 12 threads stood still for 84 us",
 * or "k3x9 can't be applied to pid 4711 now: 1 of 12 threads is in the way" and a line for each of
 * them; {"id","pid","state","functions","threads","stop_us","blockers":[{"tid","thread","function",
 * "chain","proven","outermost"}]}, and the state is "ready" or "busy".
 */
#ifndef USPL_COMMAND_REPORT_H
#define USPL_COMMAND_REPORT_H

#include "base/json.h"
#include "base/strvec.h"
#include "switch/transition.h"

struct report {
	const char *id;
	pid_t pid;
	enum transition_direction direction;
	bool already;        /* nothing was to be done */
	bool one_of_many;    /* the command is for many processes: JSON says "changed" of each */
	region_list regions; /* those that were switched, or would have been */
	/*
	 * Names of libraries: applied, those that the process hasn't loaded; undone, those that the
	 * update was pending for.
	 */
	strvec pending;
	/* Ids of the updates whose place it took, separated by blanks; NULL: none. */
	char *replaced;
	hook_log hooks; /* those that were called */
	strvec remarks; /* lines for stderr: what the user has to know of a success */
	struct transition_result result;
	bool checked; /* nothing was changed; outlook tells what was seen */
	struct transition_outlook outlook;
};

/*
 * Appends the line or the object, with its line end. err is NULL for a success; a failure has no
 * line, its message goes to stderr.
 */
void report_outcome(const struct report *report, const struct uspl_err *err, bool json,
		    struct buf *out);
/* For --check: looks what the transition would meet, and notes it. */
int report_check(struct report *report, const struct transition *transition,
		 struct uspl_err *err) uspl_must_check;
/* The failure that the transition would end in, USPL_E_BUSY or USPL_E_PAUSE; 0 if none is seen. */
int report_verdict(const struct report *report, struct uspl_err *err) uspl_must_check;
/* What report_outcome says of a check. */
void report_outlook(const struct report *report, bool json, struct buf *out);
/* Adds the name of a library that is pending, or was. */
int report_add_pending(struct report *report, const char *name,
		       struct uspl_err *err) uspl_must_check;
/* Adds a remark of a kind, "warning" or "note": one sentence in the form of messages. */
int report_add_remark(struct report *report, struct uspl_err *err, const char *kind,
		      const char *fmt, ...) uspl_printf(4, 5) uspl_must_check;
/* Adds a remark for each hook that failed, and could not keep the update from its end. */
int report_note_hooks(struct report *report, struct uspl_err *err) uspl_must_check;
/* Adds the remark that not all memory was searched for inactive stacks, if so. */
int report_note_left_out(struct report *report, struct uspl_err *err) uspl_must_check;
/* How many functions the regions redirect. */
size_t report_count(const region_list *regions);
/* Adds "functions":[...] of the regions to an open object; "new" only where that is known. */
void report_functions(struct json *json, const region_list *regions);
/* Adds KEY:[...] of words with blanks between them to an open object, if there are any. */
void report_words(struct json *json, const char *key, const char *words);
/* Adds "changed" to an open object, of one of many processes. */
void report_changed(struct json *json, const struct report *report, bool changed);
/* Frees the lists. */
void report_clear(struct report *report);

DEFINE_AUTO_RELEASE(report, struct report, report_clear)
#define auto_report __attribute__((cleanup(cleanup_report_)))

#endif
