// SPDX-License-Identifier: GPL-3.0-or-later
// report.c - what apply and undo say about one process

#include "live/report.h"

#include <inttypes.h>

static const struct {
	const char *done, *already, *to;
	enum uspl_region_state state;
} words[] = {
	[TRANSITION_ON] = { "applied", "already applied", "to", USPL_REGION_APPLIED },
	[TRANSITION_OFF] = { "undone", "already undone", "in", USPL_REGION_UNDONE },
};

static size_t count_functions(const region_vec *regions, const char *id)
{
	const struct region *region;
	size_t n = 0;

	vec_for_each (regions, region)
		if (region_has_id(region, id))
			n += region->sites.n;
	return n;
}

void report_functions(struct json *json, const region_vec *regions, const char *id)
{
	const struct region *region;
	const struct region_site *site;

	json_open(json, "functions", '[');
	vec_for_each (regions, region) {
		if (!region_has_id(region, id))
			continue;
		vec_for_each (&region->sites, site) {
			json_open(json, NULL, '{');
			json_string(json, "name", site->name);
			json_address(json, "old", site->addr);
			json_address(json, "new", site->new_addr);
			json_string(json, "module", region->module_name);
			json_close(json, '}');
		}
	}
	json_close(json, ']');
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

static void success_json(const struct report *report, struct buf *out)
{
	auto_json struct json json = { 0 };

	open_object(&json, report);
	json_string(&json, "state", region_state_word(words[report->direction].state));
	report_functions(&json, report->regions, report->id);
	json_number(&json, "stop_us", (int64_t)(report->result.stop_us + 0.5));
	json_number(&json, "attempts", report->result.attempts);
	close_object(&json, out);
}

static void success_line(const struct report *report, struct buf *out)
{
	size_t n = count_functions(report->regions, report->id);

	buf_addf(out, "%s %s %s pid %d",
		 report->already ? words[report->direction].already : words[report->direction].done,
		 report->id, words[report->direction].to, report->pid);
	if (!report->already)
		buf_addf(out, ": %zu function%s, stopped %.0f us", n, n == 1 ? "" : "s",
			 report->result.stop_us);
	buf_addstr(out, "\n");
}

static void failure_json(const struct report *report, const struct uspl_err *err, struct buf *out)
{
	auto_json struct json json = { 0 };

	open_object(&json, report);
	json_string(&json, "state",
		    uspl_code_status((int)err->code) == USPL_STATUS_REFUSED ? "refused" : "failed");
	json_string(&json, "error", uspl_code_name((int)err->code));
	json_string(&json, "message", err->msg);
	close_object(&json, out);
}

void report_outcome(const struct report *report, const struct uspl_err *err, bool json,
		    struct buf *out)
{
	if (err && json)
		failure_json(report, err, out);
	else if (json)
		success_json(report, out);
	else if (!err)
		success_line(report, out);
}
