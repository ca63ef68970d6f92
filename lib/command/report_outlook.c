// SPDX-License-Identifier: GPL-3.0-or-later
// report_outlook.c - what apply and undo say about one process after --check

#include <string.h>

#include "base/text.h"
#include "command/report.h"

/* How a check is spoken of, by the direction. */
static const struct {
	const char *done, *to;
} words[] = {
	[TRANSITION_ON] = { "applied", "to" },
	[TRANSITION_OFF] = { "undone", "in" },
};

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

int report_verdict(const struct report *report, struct uspl_err *err)
{
	const struct transition_outlook *outlook = &report->outlook;

	if (outlook->blockers.n)
		return blocker_fail(report->pid, outlook->blockers.items, err);
	return outlook->too_long ? transition_fail_pause(report->pid, err) : 0;
}

static void outlook_json(const struct report *report, struct buf *out)
{
	const struct transition_outlook *outlook = &report->outlook;
	const struct blocker *blocker;
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "id", report->id);
	json_number(&json, "pid", report->pid);
	json_string(&json, "state", report_verdict(report, NULL) ? "busy" : "ready");
	report_functions(&json, &report->regions);
	json_number(&json, "threads", (int64_t)outlook->n_threads);
	json_number(&json, "stop_us", (int64_t)(outlook->stop_us + 0.5));
	json_open(&json, "blockers", '[');
	vec_for_each (&outlook->blockers, blocker) {
		json_open(&json, NULL, '{');
		json_number(&json, "tid", blocker->tid);
		json_string(&json, "thread", blocker->thread);
		json_string(&json, "function", blocker->unreadable ? NULL : blocker->function);
		json_string(&json, "chain", blocker->chain);
		json_truth(&json, "proven", blocker->proven);
		json_truth(&json, "outermost", blocker->outermost);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_number(&json, "stopped_threads", (int64_t)outlook->n_stopped);
	json_string(&json, "way", outlook->backend);
	report_changed(&json, report, false);
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
}

static void blocker_line(const struct blocker *blocker, struct buf *out)
{
	if (!blocker->tid) {
		buf_addstr(out, "  a stack that no thread is on now: '");
		text_add_printable(out, blocker->function, strlen(blocker->function), false);
		buf_addstr(out, "'\n");
		return;
	}
	buf_addf(out, "  thread %d (", blocker->tid);
	text_add_printable(out, blocker->thread, strlen(blocker->thread), false);
	if (blocker->unreadable) {
		buf_addstr(out, "): its stack can't be followed\n");
		return;
	}
	buf_addstr(out, "): '");
	text_add_printable(out, blocker->function, strlen(blocker->function), false);
	buf_addstr(out, "' in ");
	text_add_printable(out, blocker->chain, strlen(blocker->chain), false);
	buf_addstr(out, blocker->outermost ? "; the first function of its thread" : "");
	buf_addstr(out, blocker->proven ? "\n" : "; a word of the stack that may be an old one\n");
}

static void outlook_lines(const struct report *report, struct buf *out)
{
	const struct transition_outlook *outlook = &report->outlook;
	const struct blocker *blocker;
	size_t n = outlook->blockers.n, functions = report_count(&report->regions);

	if (!n) {
		buf_addf(out, "%s can%s be %s %s pid %d: %zu function%s, ", report->id,
			 outlook->too_long ? "'t" : "", words[report->direction].done,
			 words[report->direction].to, report->pid, functions, plural(functions));
		if (!outlook->n_stopped) {
			buf_addf(out, "no thread has to be stopped, calls would wait %.0f us\n",
				 outlook->stop_us);
			return;
		}
		buf_addf(out, "%zu ", outlook->n_stopped);
		if (outlook->n_stopped != outlook->n_threads)
			buf_addf(out, "of %zu ", outlook->n_threads);
		buf_addf(out, "thread%s stood still for %.0f us\n", plural(outlook->n_threads),
			 outlook->stop_us);
		return;
	}
	buf_addf(out, "%s can't be %s %s pid %d now: ", report->id, words[report->direction].done,
		 words[report->direction].to, report->pid);
	if (outlook->blockers.items->tid)
		buf_addf(out, "%s%zu of %zu thread%s %s in the way\n",
			 outlook->more ? "at least " : "", n, outlook->n_threads,
			 plural(outlook->n_threads), n == 1 ? "is" : "are");
	else
		buf_addstr(out, "a function waits to be gone on with\n");
	vec_for_each (&outlook->blockers, blocker)
		blocker_line(blocker, out);
}

void report_outlook(const struct report *report, bool json, struct buf *out)
{
	if (json)
		outlook_json(report, out);
	else
		outlook_lines(report, out);
}

int report_check(struct report *report, const struct transition *transition, struct uspl_err *err)
{
	report->checked = true;
	return transition_look(transition, &report->outlook, err);
}
