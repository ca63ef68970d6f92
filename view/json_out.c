// SPDX-License-Identifier: GPL-3.0-or-later
// json_out.c - what was found, as JSON for programs

#include "base/hook_kind.h"
#include "command/report.h"
#include "update/stated.h"
#include "view/show.h"

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static void add_shadows(struct json *json, const struct scan_presence *presence)
{
	const struct shadow_record *record;
	const struct region **region;

	json_open(json, "shadows", '[');
	vec_for_each (&presence->status.regions, region) {
		vec_for_each (scan_shadows(presence->process, *region), record) {
			json_open(json, NULL, '{');
			json_string(json, "name", record->name);
			json_number(json, "objects", (int64_t)record->objects);
			json_number(json, "bytes", (int64_t)record->size);
			json_string(json, "module", (*region)->module_name);
			json_close(json, '}');
		}
	}
	json_close(json, ']');
}

static void add_update(struct json *json, const struct scan_update *update, bool with_patch)
{
	const struct scan_presence *presence;
	const struct region *region = update->region;

	json_open(json, NULL, '{');
	json_string(json, "id", region->id);
	json_string(json, "description", region->description);
	json_open(json, "processes", '[');
	vec_for_each (&update->presences, presence) {
		const struct region_status *status = &presence->status;

		json_open(json, NULL, '{');
		json_number(json, "pid", presence->process->pid);
		json_string(json, "comm", presence->process->comm);
		json_string(json, "user", presence->process->user);
		json_string(json, "state", status->state);
		if (status->between)
			json_number(json, "threads_left", (int64_t)status->threads_left);
		json_number(json, "applied_at", status->applied_at);
		json_string(json, "sha256", or_null(presence->record->digest));
		json_string(json, "signer", or_null(presence->record->signer));
		report_functions(json, &status->regions);
		add_shadows(json, presence);
		if (status->pending.n)
			json_strings(json, "pending", &status->pending);
		report_words(json, "replaced", presence->record->replaces);
		report_words(json, "states", presence->record->states);
		json_close(json, '}');
	}
	json_close(json, ']');
	if (with_patch)
		json_bytes(json, "patch", region->patch, region->patch_len);
	json_close(json, '}');
}

void json_scan(const struct scan *scan, bool with_patch, struct json *json)
{
	const struct scan_update *update;

	json_open(json, NULL, '[');
	vec_for_each (&scan->updates, update)
		add_update(json, update, with_patch);
	json_close(json, ']');
}

static void add_target(struct json *json, const struct update_target *target)
{
	const struct update_function *function;
	const struct update_hook *hook;

	json_open(json, NULL, '{');
	json_string(json, "name", target->name);
	json_string(json, "path", target->path);
	json_string(json, "soname", target->soname);
	json_string(json, "compiler", target->compiler);
	json_strings(json, "build_ids", &target->build_ids);
	json_open(json, "functions", '[');
	vec_for_each (&target->functions, function) {
		json_open(json, NULL, '{');
		json_string(json, "name", function->name);
		json_string(json, "symbol", function->symbol);
		json_string(json, "unit", function->unit);
		json_string(json, "reason", function->reason);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_open(json, "hooks", '[');
	vec_for_each (&target->hooks, hook) {
		json_open(json, NULL, '{');
		json_string(json, "kind", hook_kind_name(hook->kind));
		json_string(json, "name", hook->name);
		json_string(json, "unit", hook->unit);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_strings(json, "answers", &target->answers);
	json_close(json, '}');
}

void json_file(const struct update *update, struct json *json)
{
	auto_buf struct buf states = { 0 };
	const struct update_target *target;

	json_open(json, NULL, '{');
	json_string(json, "id", update->id);
	json_string(json, "description", update->description);
	json_string(json, "created", update->created);
	json_string(json, "tool", update->tool);
	json_string(json, "package", update->package);
	json_string(json, "version", update->version);
	json_string(json, "sha256", or_null(update->file.digest));
	if (update->upgrade.source) {
		json_open(json, "upgrade", '{');
		json_string(json, "source", update->upgrade.source);
		json_string(json, "from", update->upgrade.from);
		json_string(json, "to", update->upgrade.to);
		if (update->upgrade.change)
			json_string(json, "change", update->upgrade.change);
		if (update->upgrade.left_out)
			json_string(json, "left_out", update->upgrade.left_out);
		json_close(json, '}');
	}
	if (update->replaces.n)
		json_strings(json, "replaces", &update->replaces);
	stated_text(update, &states);
	report_words(json, "states", buf_str(&states));
	json_open(json, "targets", '[');
	vec_for_each (&update->targets, target)
		add_target(json, target);
	json_close(json, ']');
	json_bytes(json, "patch", update->patch, update->patch_len);
	json_close(json, '}');
}
