// SPDX-License-Identifier: GPL-3.0-or-later
// report.c - what apply and undo say about one process

#include "command/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/hook_kind.h"
#include "base/text.h"
#include "switch/hooks.h"

static const struct {
	const char *done, *already, *to;
	enum uspl_region_state state;
} words[] = {
	[TRANSITION_ON] = { "applied", "already applied", "to", USPL_REGION_APPLIED },
	[TRANSITION_OFF] = { "undone", "already undone", "in", USPL_REGION_UNDONE },
};

/* True if there are only libraries that the process doesn't have. */
static bool only_pending(const struct report *report)
{
	return report->pending.n && !report->regions.n;
}

static void open_object(struct json *json, const struct report *report)
{
	json_open(json, NULL, '{');
	json_string(json, "id", report->id);
	json_number(json, "pid", report->pid);
}

static void close_object(struct json *json, struct buf *out)
{
	json_close(json, '}');
	buf_addf(out, "%s\n", json_text(json));
}

static void add_hooks(struct json *json, const struct report *report)
{
	const struct hook_run *hook;

	if (report->hooks.n)
		json_open(json, "hooks", '[');
	vec_for_each (&report->hooks, hook) {
		json_open(json, NULL, '{');
		json_string(json, "name", hook->name);
		json_string(json, "kind", hook_kind_name(hook->kind));
		json_number(json, "us", (int64_t)(hook->us + 0.5));
		if (hook->late)
			json_truth(json, "late", true);
		else if (hook->signal)
			json_number(json, "signal", hook->signal);
		else
			json_number(json, "result", hook_kind_asks(hook->kind) ? hook->result : 0);
		json_close(json, '}');
	}
	if (report->hooks.n)
		json_close(json, ']');
}

static void success_json(const struct report *report, struct buf *out)
{
	enum uspl_region_state state = words[report->direction].state;
	auto_json struct json json = { 0 };

	if (report->direction == TRANSITION_ON && only_pending(report))
		state = USPL_REGION_PENDING;
	open_object(&json, report);
	json_string(&json, "state", region_state_name(state));
	report_functions(&json, &report->regions);
	if (report->direction == TRANSITION_ON && report->pending.n)
		json_strings(&json, "pending", &report->pending);
	report_words(&json, "replaced", report->replaced);
	json_number(&json, "stop_us", (int64_t)(report->result.stop_us + 0.5));
	json_number(&json, "held_us", (int64_t)(report->result.held_us + 0.5));
	json_number(&json, "attempts", report->result.attempts);
	if (report->result.backend) {
		json_number(&json, "stopped_threads", (int64_t)report->result.n_stopped);
		json_string(&json, "way", report->result.backend);
	}
	add_hooks(&json, report);
	report_changed(&json, report, !report->already);
	close_object(&json, out);
}

/* "libfoo.so, libbar.so" */
static void add_names(const struct report *report, struct buf *out)
{
	for (size_t i = 0; i < report->pending.n; i++) {
		buf_addstr(out, i ? ", " : "");
		text_add_printable(out, report->pending.items[i], strlen(report->pending.items[i]),
				   false);
	}
}

static void success_line(const struct report *report, struct buf *out)
{
	size_t n = report_count(&report->regions);

	/* No code was switched, and none would have been. */
	if (only_pending(report) && report->direction == TRANSITION_OFF) {
		buf_addf(out, "undone %s in pid %d: it was pending for ", report->id, report->pid);
		add_names(report, out);
		buf_addstr(out, "\n");
		return;
	}
	if (only_pending(report)) {
		buf_addf(out, "%spending %s in pid %d: ", report->already ? "already " : "",
			 report->id, report->pid);
		add_names(report, out);
		buf_addf(out, " %s not loaded\n", report->pending.n == 1 ? "is" : "are");
		return;
	}
	buf_addf(out, "%s %s %s pid %d",
		 report->already ? words[report->direction].already : words[report->direction].done,
		 report->id, words[report->direction].to, report->pid);
	if (!report->already)
		buf_addf(out, ": %zu function%s, stopped %.0f us", n, n == 1 ? "" : "s",
			 report->result.stop_us);
	if (!report->already && report->result.held_us > 0)
		buf_addf(out, ", callers held %.0f us", report->result.held_us);
	if (report->replaced && *report->replaced)
		buf_addf(out, ", in the place of %s", report->replaced);
	if (report->pending.n && report->direction == TRANSITION_ON) {
		buf_addstr(out, report->already ? ": pending for " : "; pending for ");
		add_names(report, out);
	}
	buf_addstr(out, "\n");
}

void report_outcome(const struct report *report, const struct uspl_err *err, bool json,
		    struct buf *out)
{
	auto_json struct json failure = { 0 };

	if (!err && report->checked) {
		report_outlook(report, json, out);
	} else if (!err && json) {
		success_json(report, out);
	} else if (!err) {
		success_line(report, out);
	} else if (json) {
		open_object(&failure, report);
		json_string(&failure, "state",
			    uspl_code_status((int)err->code) == USPL_STATUS_REFUSED ? "refused"
										    : "failed");
		json_string(&failure, "error", uspl_code_name((int)err->code));
		json_string(&failure, "message", err->msg);
		add_hooks(&failure, report);
		report_changed(&failure, report,
			       err->code == USPL_E_STRANDED || err->code == USPL_E_UNFINISHED);
		close_object(&failure, out);
	}
}

int report_add_pending(struct report *report, const char *name, struct uspl_err *err)
{
	return strvec_add(&report->pending, name) ? 0 : uspl_fail_nomem(err);
}

int report_add_remark(struct report *report, struct uspl_err *err, const char *kind,
		      const char *fmt, ...)
{
	char **item = vec_push(&report->remarks);
	auto_buf struct buf shown = { 0 };
	auto_free char *text = NULL;
	va_list ap;

	if (!item)
		return uspl_fail_nomem(err);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	text_add_printable(&shown, text ? text : "", text ? strlen(text) : 0, false);
	if (!text || asprintf(item, "%s: %s", kind, buf_str(&shown)) < 0)
		*item = NULL;
	return *item ? 0 : uspl_fail_nomem(err);
}

int report_note_hooks(struct report *report, struct uspl_err *err)
{
	const struct hook_run *hook;

	vec_for_each (&report->hooks, hook) {
		int rc;

		/* One that could keep it from its end has done so, and the message is about it. */
		if ((!hook->late && !hook->signal) || hook_kind_asks(hook->kind) ||
		    hook_kind_is_still(hook->kind))
			continue;
		rc = report_add_remark(report, err, "warning",
				       "hook '%s' (%s) in pid %d %s: what it was to do may be "
				       "half done",
				       hook->name, hook_kind_name(hook->kind), report->pid,
				       hook->late ? "took too long and was ended"
						  : "was ended by a signal");
		if (rc)
			return rc;
	}
	return 0;
}

int report_note_left_out(struct report *report, struct uspl_err *err)
{
	uint64_t left_out = report->result.left_out + report->outlook.left_out;

	if (!left_out)
		return 0;
	return report_add_remark(report, err, "warning",
				 "%" PRIu64 " MiB of pid %d were not searched for stacks that no "
				 "thread is on (coroutines, setjmp); search more with --scan=MIB",
				 (left_out + (1 << 20) - 1) >> 20, report->pid);
}

void report_clear(struct report *report)
{
	free(report->replaced);
	report->replaced = NULL;
	strvec_release(&report->pending);
	strvec_release(&report->remarks);
	vec_release(&report->regions);
	hook_log_release(&report->hooks);
	transition_outlook_release(&report->outlook);
}
