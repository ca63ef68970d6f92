// SPDX-License-Identifier: GPL-3.0-or-later
// update.c - an update in memory: what uspl-create makes and uspl-apply takes

#include "update/update.h"

#include <string.h>

bool update_id_valid(const char *id)
{
	size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789_.-");

	return len >= 1 && len <= 63 && !id[len];
}

bool update_target_is_library(const struct update_target *target)
{
	const char *at = target->name;

	while (!target->soname && (at = strstr(at, ".so"))) {
		at += 3;
		if (!*at || *at == '.')
			return true;
	}
	return target->soname != NULL;
}

bool update_has_hooks(const struct update *update)
{
	const struct update_target *target;

	vec_for_each (&update->targets, target)
		if (target->hooks.n)
			return true;
	return false;
}

bool update_has_data(const struct update *update)
{
	const struct update_target *target;

	vec_for_each (&update->targets, target)
		if (target->data.n)
			return true;
	return false;
}

struct update *update_new(void)
{
	return calloc(1, sizeof(struct update));
}

static void target_release(struct update_target *target)
{
	struct update_function *function;
	struct update_match *match;
	struct update_place *place;
	struct update_hook *hook;
	struct update_state *state;
	struct update_datum *datum;

	strvec_release(&target->build_ids);
	strvec_release(&target->answers);
	vec_for_each (&target->hooks, hook) {
		free(hook->name);
		free(hook->symbol);
		free(hook->unit);
	}
	vec_release(&target->hooks);
	vec_for_each (&target->states, state) {
		free(state->name);
		free(state->symbol);
	}
	vec_release(&target->states);
	vec_for_each (&target->data, datum)
		free(datum->symbol);
	vec_release(&target->data);
	vec_for_each (&target->functions, function) {
		free(function->name);
		free(function->symbol);
		free(function->unit);
		free(function->reason);
	}
	vec_release(&target->functions);
	vec_for_each (&target->matched, match) {
		vec_for_each (&match->places, place)
			free(place->symbol);
		vec_release(&match->places);
		free(match->build_id);
		free(match->file);
	}
	vec_release(&target->matched);
	free(target->name);
	free(target->path);
	free(target->soname);
	free(target->compiler);
	free(target->producer);
	objfile_free(target->new_code);
	objfile_free(target->pre_code);
	objfile_free(target->debug);
}

void update_drop_targets(struct update *update)
{
	struct update_target *target;

	vec_for_each (&update->targets, target)
		target_release(target);
	vec_release(&update->targets);
}

void update_free(struct update *update)
{
	if (!update)
		return;
	update_drop_targets(update);
	strvec_release(&update->after);
	strvec_release(&update->replaces);
	free(update->id);
	free(update->description);
	free(update->created);
	free(update->tool);
	free(update->package);
	free(update->version);
	free(update->patch);
	buf_release(&update->file.bytes);
	buf_release(&update->file.signature);
	free(update->upgrade.source);
	free(update->upgrade.from);
	free(update->upgrade.to);
	free(update->upgrade.change);
	free(update->upgrade.left_out);
	free(update);
}
