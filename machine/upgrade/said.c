// SPDX-License-Identifier: GPL-3.0-or-later
// said.c - what is said of the processes that run an older version of a package

#include "machine/upgrade/said.h"

#include <stdio.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"

static void print_case(const struct upgrade_case *item)
{
	const struct release *release = item->release;

	printf("pid %d (%s): ", item->process->process.pid, item->process->name);
	if (item->answer == ANSWER_PATCHED)
		printf("%s, %s %s to %s", item->changed ? "patched" : "was patched before",
		       release->source, item->from, release->newest);
	else if (item->answer == ANSWER_PARTLY)
		printf("%s in part, %s %s to %s; restart needed for %s",
		       item->changed ? "patched" : "was patched before", release->source,
		       item->from, release->newest, item->left_out);
	else if (item->answer == ANSWER_BEHIND)
		printf("behind, %s %s, and %s is %s", release->source, item->from, release->newest,
		       strcmp(release->newest, release->installed) ? "offered" : "installed");
	else if (item->answer == ANSWER_SAME)
		printf("nothing to do, since %s %s and %s differ in no code", release->source,
		       item->from, release->newest);
	else
		printf("restart needed for %s %s, because %s", release->source, release->newest,
		       item->why.msg);
	if (item->changed)
		printf(", stopped %.0f us", item->stop_us);
	if (item->why.hint[0])
		printf("\n  hint: %s", item->why.hint);
	putchar('\n');
}

void said_print(const upgrade_cases *cases, const struct running *running)
{
	const struct running_process *process;
	const struct upgrade_case *item;
	size_t behind = 0;

	vec_for_each (cases, item)
		if (item->answer != ANSWER_ENDED)
			print_case(item);
	vec_for_each (&running->processes, process) {
		bool has_case = false;

		vec_for_each (cases, item)
			has_case |= item->process == process;
		behind += has_case;
	}
	if (!cli_quiet())
		printf("nothing to do for %zu process%s\n", running->processes.n - behind,
		       running->processes.n - behind == 1 ? "" : "es");
	if (!cli_quiet() && running->n_denied)
		printf("not looked at, since this user may not read them: %zu\n",
		       running->n_denied);
}

int said_print_json(const upgrade_cases *cases, const struct running *running, struct uspl_err *err)
{
	static const char *const answers[] = { "behind", "patched", "patched-in-part",
					       "restart-needed", "same-code" };
	const struct running_process *process;
	const struct upgrade_case *item;

	vec_for_each (&running->processes, process) {
		auto_json struct json json = { 0 };
		bool ended = false;

		vec_for_each (cases, item)
			ended |= item->process == process && item->answer == ANSWER_ENDED;
		if (ended)
			continue;
		json_open(&json, NULL, '{');
		json_number(&json, "pid", process->process.pid);
		json_string(&json, "comm", process->name);
		json_open(&json, "packages", '[');
		vec_for_each (cases, item) {
			if (item->process != process)
				continue;
			json_open(&json, NULL, '{');
			json_string(&json, "source", item->release->source);
			json_string(&json, "from", item->from);
			json_string(&json, "to", item->release->newest);
			json_truth(&json, "installed",
				   !strcmp(item->release->newest, item->release->installed));
			json_string(&json, "state", answers[item->answer]);
			json_string(&json, "id", item->id);
			if (item->left_out)
				json_string(&json, "left_out", item->left_out);
			json_truth(&json, "changed", item->changed);
			if (item->why.code)
				json_string(&json, "message", item->why.msg);
			json_close(&json, '}');
		}
		json_close(&json, ']');
		json_close(&json, '}');
		if (json.buf.oom)
			return uspl_fail_nomem(err);
		puts(json_text(&json));
	}
	return 0;
}

int said_status(const upgrade_cases *cases)
{
	const struct upgrade_case *item;
	int worst = USPL_STATUS_DONE;

	vec_for_each (cases, item) {
		int status = item->why.code ? (int)uspl_code_status((int)item->why.code)
					    : USPL_STATUS_DONE;

		if (status == USPL_STATUS_NO_CHANGE)
			status = USPL_STATUS_DONE;
		if (item->answer == ANSWER_PARTLY)
			status = USPL_STATUS_REFUSED;
		worst = status > worst ? status : worst;
	}
	return worst;
}
