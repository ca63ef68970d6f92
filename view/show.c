// SPDX-License-Identifier: GPL-3.0-or-later
// show.c - what was found, as text for people

#include "view/show.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/hook_kind.h"
#include "update/stated.h"
#include "base/text.h"
#include "view/table.h"

#define INDENT "  "

static void add_time(struct table *table, int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm tm;
	char text[64];

	if (seconds > 0 && gmtime_r(&when, &tm) && strftime(text, sizeof(text), "%FT%TZ", &tm))
		table_add(table, text);
	else
		table_add(table, "");
}

/* "applied+pending": in effect, but not in all libraries that it is for. */
static void add_state(struct table *table, const struct region_status *status)
{
	if (status->between)
		table_addf(table, "by thread, %zu left", status->threads_left);
	else
		table_addf(table, "%s%s", status->state,
			   status->pending.n && status->regions.n ? "+pending" : "");
}

static void add_headings(struct table *table, const char *const *headings)
{
	for (size_t i = 0; i < table->columns; i++)
		table_add(table, headings[i]);
}

void show_list(const struct scan *scan, struct buf *out)
{
	static const char *const headings[] = { "ID",        "STATE",   "PID",  "COMMAND",
						"FUNCTIONS", "APPLIED", "USER", "DESCRIPTION" };
	auto_table struct table table = { .columns = ARRAY_SIZE(headings) };
	const struct scan_presence *presence;
	const struct scan_update *update;
	const struct region **region;

	add_headings(&table, headings);
	vec_for_each (&scan->updates, update) {
		vec_for_each (&update->presences, presence) {
			size_t n = 0;

			vec_for_each (&presence->status.regions, region)
				n += (*region)->sites.n;
			table_add(&table, update->region->id);
			add_state(&table, &presence->status);
			table_addf(&table, "%d", presence->process->pid);
			table_add(&table, presence->process->comm);
			table_addf(&table, "%zu", n);
			add_time(&table, presence->status.applied_at);
			table_add(&table, presence->process->user);
			table_add(&table, update->region->description);
		}
	}
	table_render(&table, "", out);
}

/* "NAME:  text", in one line. */
static void add_line(struct buf *out, const char *name, const char *text)
{
	char label[32];

	snprintf(label, sizeof(label), "%s:", name);
	buf_addf(out, "%-14s", label);
	text_add_printable(out, text, strlen(text), false);
	buf_addstr(out, "\n");
}

static void add_patch(struct buf *out, const char *patch, size_t len)
{
	buf_addstr(out, "\npatch:\n");
	text_add_printable(out, patch, len, true);
	if (len && patch[len - 1] != '\n')
		buf_addstr(out, "\n");
}

static void add_functions(struct buf *out, const struct region_status *status)
{
	static const char *const headings[] = { "FUNCTION", "OLD", "NEW", "MODULE" };
	auto_table struct table table = { .columns = ARRAY_SIZE(headings) };
	const struct region **region;
	const struct region_site *site;

	if (!status->regions.n)
		return;
	add_headings(&table, headings);
	vec_for_each (&status->regions, region) {
		vec_for_each (&(*region)->sites, site) {
			table_add(&table, site->name);
			table_addf(&table, "0x%" PRIx64, region_site_entry(site));
			table_addf(&table, "0x%" PRIx64, site->new_addr);
			table_add(&table, (*region)->module_name);
		}
	}
	table_render(&table, INDENT, out);
}

/* Words of a record, which the process may have written. */
static void add_words(struct buf *out, const char *what, const char *words)
{
	if (!words || !*words)
		return;
	buf_addf(out, INDENT "%s ", what);
	text_add_printable(out, words, strlen(words), false);
	buf_addstr(out, "\n");
}

static void add_shadows(struct buf *out, const struct scan_presence *presence)
{
	static const char *const headings[] = { "SHADOW VARIABLE", "OBJECTS", "BYTES", "MODULE" };
	auto_table struct table table = { .columns = ARRAY_SIZE(headings) };
	const struct shadow_record *record;
	const struct region **region;
	bool any = false;

	vec_for_each (&presence->status.regions, region) {
		vec_for_each (scan_shadows(presence->process, *region), record) {
			if (!any)
				add_headings(&table, headings);
			any = true;
			table_add(&table, record->name);
			table_addf(&table, "%" PRIu64, record->objects);
			table_addf(&table, "%" PRIu64, record->size);
			table_add(&table, (*region)->module_name);
		}
	}
	if (any)
		table_render(&table, INDENT, out);
}

static void add_processes(struct buf *out, const struct scan_update *update)
{
	static const char *const headings[] = { "PID", "COMMAND", "STATE", "APPLIED", "USER" };
	const struct scan_presence *presence;
	char *const *name;

	vec_for_each (&update->presences, presence) {
		auto_table struct table table = { .columns = ARRAY_SIZE(headings) };
		const struct region *record = presence->record;

		buf_addstr(out, "\n");
		add_headings(&table, headings);
		table_addf(&table, "%d", presence->process->pid);
		table_add(&table, presence->process->comm);
		add_state(&table, &presence->status);
		add_time(&table, presence->status.applied_at);
		table_add(&table, presence->process->user);
		table_render(&table, "", out);
		/* Which file it was applied from, and which key that was signed with. */
		if (*record->digest)
			buf_addf(out, INDENT "sha256 %s\n", record->digest);
		if (*record->signer)
			buf_addf(out, INDENT "signed with key %s\n", record->signer);
		add_words(out, "in the place of", record->replaces);
		add_words(out, "states", record->states);
		add_functions(out, &presence->status);
		add_shadows(out, presence);
		vec_for_each (&presence->status.pending, name) {
			buf_addstr(out, INDENT "pending for ");
			text_add_printable(out, *name, strlen(*name), false);
			buf_addstr(out, "\n");
		}
	}
}

void show_update(const struct scan_update *update, struct buf *out)
{
	const struct region *region = update->region;

	add_line(out, "id", region->id);
	add_line(out, "description", region->description);
	add_processes(out, update);
	add_patch(out, region->patch, region->patch_len);
}

static void add_target(struct buf *out, const struct update_target *target)
{
	static const char *const headings[] = { "FUNCTION", "UNIT", "REASON" };
	auto_table struct table table = { .columns = ARRAY_SIZE(headings) };
	const struct update_function *function;
	const struct update_hook *hook;
	char *const *build_id, *const *answer;

	buf_addstr(out, "\n");
	add_line(out, "target", target->path);
	if (target->soname)
		add_line(out, "soname", target->soname);
	if (target->compiler)
		add_line(out, "compiler", target->compiler);
	vec_for_each (&target->build_ids, build_id)
		add_line(out, "build-id", *build_id);
	add_headings(&table, headings);
	vec_for_each (&target->functions, function) {
		table_add(&table, function->name);
		table_add(&table, function->unit);
		table_add(&table, function->reason);
	}
	vec_for_each (&target->hooks, hook) {
		table_add(&table, hook->name);
		table_add(&table, hook->unit);
		table_addf(&table, "hook: %s", hook_kind_name(hook->kind));
	}
	table_render(&table, INDENT, out);
	vec_for_each (&target->answers, answer)
		add_line(out, "answered", *answer);
}

void show_file(const struct update *update, struct buf *out)
{
	auto_buf struct buf states = { 0 }, replaces = { 0 }, versions = { 0 };
	const struct update_upgrade *upgrade = &update->upgrade;
	const struct update_target *target;
	char *const *id;

	add_line(out, "id", update->id);
	add_line(out, "description", update->description);
	add_line(out, "created", update->created);
	add_line(out, "tool", update->tool);
	if (update->package)
		add_line(out, "package", update->package);
	if (update->version)
		add_line(out, "version", update->version);
	if (update->file.digest[0])
		add_line(out, "sha256", update->file.digest);
	if (upgrade->source) {
		buf_addf(&versions, "%s %s to %s", upgrade->source, upgrade->from, upgrade->to);
		if (upgrade->change)
			buf_addf(&versions, ", of it '%s'", upgrade->change);
		if (upgrade->left_out)
			buf_addf(&versions, "; left out: %s", upgrade->left_out);
		add_line(out, "package", buf_str(&versions));
	}
	vec_for_each (&update->replaces, id)
		buf_addf(&replaces, "%s%s", replaces.len ? " " : "", *id);
	if (replaces.len)
		add_line(out, "replaces", buf_str(&replaces));
	stated_text(update, &states);
	if (states.len)
		add_line(out, "states", buf_str(&states));
	vec_for_each (&update->targets, target)
		add_target(out, target);
	add_patch(out, update->patch, update->patch_len);
}
