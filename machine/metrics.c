// SPDX-License-Identifier: GPL-3.0-or-later
// metrics.c - what is enabled, and in how many processes, for Prometheus

#include "machine/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"

static const char *const state_names[] = {
	[METRICS_APPLIED] = "applied",
	[METRICS_MISSING] = "missing",
	[METRICS_WAITING] = "waiting",
	[METRICS_REFUSED] = "refused",
};

static void add_family(struct buf *out, const char *name, const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void add_infos(const metrics_update_vec *updates, struct buf *out)
{
	const struct metrics_update *update;
	const char *text;

	add_family(out, "uspl_update_info", "An update that is enabled on this machine.");
	vec_for_each (updates, update) {
		auto_buf struct buf shown = { 0 };

		text = update->description ? update->description : "";
		text_add_printable(&shown, text, strlen(text), true);
		buf_addf(out, "uspl_update_info{id=\"%s\",description=\"", update->id);
		/* A label's value: UTF-8, in which these three have a backslash before them. */
		for (const char *at = buf_str(&shown); *at; at++) {
			if (*at == '\n')
				buf_addstr(out, "\\n");
			else if (*at == '"' || *at == '\\')
				buf_addf(out, "\\%c", *at);
			else
				buf_add(out, at, 1);
		}
		buf_addstr(out, "\"} 1\n");
	}
}

void metrics_add(const metrics_update_vec *updates, bool watched, struct buf *out)
{
	const struct metrics_update *update;

	add_family(out, "uspl_build_info", "The version of uspl.");
	buf_addf(out, "uspl_build_info{version=\"%s\"} 1\n", USPL_VERSION);
	add_family(out, "uspl_watch_up", "Whether uspl-watch is at work.");
	buf_addf(out, "uspl_watch_up %d\n", watched);
	add_infos(updates, out);
	add_family(out, "uspl_update_enabled_timestamp_seconds", "When it was enabled.");
	vec_for_each (updates, update)
		if (update->since)
			buf_addf(out, "uspl_update_enabled_timestamp_seconds{id=\"%s\"} %lld\n",
				 update->id, (long long)update->since);
	add_family(out, "uspl_update_damaged", "Whether its file can't be read.");
	vec_for_each (updates, update)
		buf_addf(out, "uspl_update_damaged{id=\"%s\"} %d\n", update->id, update->damaged);
	add_family(out, "uspl_update_processes",
		   "Processes that run what it is for, by what they have of it.");
	vec_for_each (updates, update)
		for (int state = 0; state < METRICS_STATES && !update->damaged; state++)
			buf_addf(out, "uspl_update_processes{id=\"%s\",state=\"%s\"} %zu\n",
				 update->id, state_names[state], update->processes[state]);
}

void metrics_updates_release(metrics_update_vec *updates)
{
	struct metrics_update *update;

	vec_for_each (updates, update)
		free(update->description);
	vec_release(updates);
}
