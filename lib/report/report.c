// SPDX-License-Identifier: GPL-3.0-or-later
// report.c - what was done to a process, in a line for people or an object for programs

#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cli.h"

/* clang-format off */
static const struct {
	const char *line;  /* id, pid */
	const char *state; /* in JSON */
	bool done;         /* the process was stopped for it */
} actions[] = {
	[REPORT_APPLIED]         = { "applied %s to pid %d",            "applied", true },
	[REPORT_ALREADY_APPLIED] = { "%s is already applied to pid %d", "applied", false },
	[REPORT_UNDONE]          = { "undid %s in pid %d",              "undone",  true },
	[REPORT_ALREADY_UNDONE]  = { "%s is already undone in pid %d",  "undone",  false },
};

/* What a failure left behind, by its exit status. */
static const char *const failed_states[] = {
	[USPL_STATUS_REFUSED]  = "refused",
	[USPL_STATUS_FAILED]   = "failed",
	[USPL_STATUS_STRANDED] = "stranded",
};
/* clang-format on */

size_t report_count_functions(const region_vec *regions, const char *id)
{
	const struct region *region;
	size_t n = 0;

	vec_for_each (regions, region)
		n += region_has_id(region, id) ? region->sites.n : 0;
	return n;
}

static void add_site(struct json *json, const struct region *region, const struct region_site *site)
{
	json_open(json, NULL, '{');
	json_string(json, "name", site->name);
	json_address(json, "old", site->addr);
	json_address(json, "new", site->new_addr);
	json_string(json, "module", region->module_name);
	json_close(json, '}');
}

void report_functions(struct json *json, const region_vec *regions, const char *id)
{
	const struct region *region;
	const struct region_site *site;

	json_open(json, "functions", '[');
	vec_for_each (regions, region) {
		if (!region_has_id(region, id))
			continue;
		vec_for_each (&region->sites, site)
			add_site(json, region, site);
	}
	json_close(json, ']');
}

int report_print_json(const struct json *json, struct uspl_err *err)
{
	if (json->buf.oom)
		return uspl_fail_nomem(err);
	printf("%s\n", json_text(json));
	return 0;
}

static int print_object(const struct report *report, struct uspl_err *err)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "id", report->id);
	json_number(&json, "pid", report->pid);
	json_string(&json, "state", actions[report->action].state);
	report_functions(&json, report->regions, report->id);
	json_number(&json, "stop_us", (int64_t)report->stop_us);
	json_number(&json, "attempts", report->attempts);
	json_close(&json, '}');
	return report_print_json(&json, err);
}

int report_print(const struct report *report, bool json, struct uspl_err *err)
{
	size_t n = report_count_functions(report->regions, report->id);

	if (json)
		return print_object(report, err);
	if (cli_quiet())
		return 0;
	printf(actions[report->action].line, report->id, report->pid);
	if (actions[report->action].done)
		printf(": %zu function%s, stopped %" PRIu64 " us", n, n == 1 ? "" : "s",
		       report->stop_us);
	putchar('\n');
	return 0;
}

int report_print_failure(const char *id, pid_t pid, const struct uspl_err *failure,
			 struct uspl_err *err)
{
	enum uspl_status status = uspl_code_status(failure->code);
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "id", id);
	json_number(&json, "pid", pid);
	json_string(&json, "state",
		    status < ARRAY_SIZE(failed_states) && failed_states[status]
			    ? failed_states[status]
			    : "failed");
	json_string(&json, "error", uspl_code_name((int)failure->code));
	json_string(&json, "message", failure->msg);
	if (failure->hint[0])
		json_string(&json, "hint", failure->hint);
	json_close(&json, '}');
	return report_print_json(&json, err);
}
