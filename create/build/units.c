// SPDX-License-Identifier: GPL-3.0-or-later
// units.c - what is known of the files that the two builds made: look-ups, and what they held

#include "create/build/units.h"

#include "create/build/inputs.h"
#include "create/build/record.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

struct units *units_new(const struct build_paths *paths)
{
	struct units *units = calloc(1, sizeof(*units));

	if (!units)
		return NULL;
	units->paths = paths;
	units->makers.pre = &units->pre;
	return units;
}

void units_forget_contents(struct units *units)
{
	struct content *content;

	vec_for_each (&units->contents, content)
		free(content->path);
	vec_release(&units->contents);
	strmap_release(&units->content_of);
}

void units_free(struct units *units)
{
	struct program *program;

	if (!units)
		return;
	vec_for_each (&units->programs, program) {
		input_list_release(&program->pre);
		input_list_release(&program->post);
		strmap_release(&program->pre_names);
		strmap_release(&program->post_names);
		build_link_release(&program->link);
		free(program->path);
	}
	vec_release(&units->programs);
	makers_release(&units->makers);
	strmap_release(&units->known);
	strmap_release(&units->optimised);
	strmap_release(&units->shared);
	strmap_release(&units->pre_objects);
	vec_release(&units->last_link);
	units_forget_contents(units);
	record_release(&units->pre);
	record_release(&units->post);
	record_release(&units->outside);
	free(units);
}

const char *units_relative(const struct units *units, const char *path)
{
	size_t len = strlen(units->paths->tree);

	return !strncmp(path, units->paths->tree, len) && path[len] == '/' ? path + len + 1 : path;
}

const struct record *units_pre_record(const struct units *units, const char *object)
{
	return strmap_get(&units->pre_objects, object);
}

const struct record *units_post_record(const struct units *units, const char *object)
{
	const struct record *record = strmap_get(&units->makers.by_path, object);

	return record && record->step && record->step == units->step ? record : NULL;
}

/* ---- what sources and headers were ---- */

static int note_content(const char *path, void *ctx, struct uspl_err *err)
{
	struct units *units = ctx;
	struct content *content;

	/* Outside the tree, where a path has no shorter form, nothing is noted. */
	if (units_relative(units, path) == path || strmap_get(&units->content_of, path))
		return 0;
	content = vec_push(&units->contents);
	if (!content || !(content->path = strdup(path)) ||
	    !strmap_set(&units->content_of, path, (void *)(uintptr_t)units->contents.n))
		return uspl_fail_nomem(err);
	/* A header that isn't there any more was a temporary one. */
	content->gone = access(path, R_OK) < 0;
	return content->gone ? 0 : input_hash_file(path, &content->hash, err);
}

int units_note_contents(struct units *units, struct uspl_err *err)
{
	struct record **record;

	units_forget_contents(units);
	vec_for_each (&units->pre, record) {
		int rc = (*record)->kind == RECORD_COMPILE
				 ? record_each_file(*record, note_content, units, err)
				 : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/* ---- what other tools made of objects ---- */

int units_note_altered(const struct units *units, const record_list *records, struct uspl_err *err)
{
	struct record **slot;

	vec_for_each (records, slot) {
		struct record *record = *slot;
		struct stat made, saved;
		uint64_t one, other;
		int rc;

		if (record->kind != RECORD_COMPILE ||
		    strmap_get(&units->makers.by_path, record->output) != record ||
		    stat(record->output, &made) < 0 || stat(record->saved, &saved) < 0)
			continue;
		/* What is newer than our copy, or of another size, and holds something else. */
		if (made.st_size == saved.st_size && made.st_mtim.tv_sec <= saved.st_mtim.tv_sec)
			continue;
		rc = input_hash_file(record->output, &one, err);
		if (rc)
			return rc;
		rc = input_hash_file(record->saved, &other, err);
		if (rc)
			return rc;
		record->altered = one != other;
	}
	return 0;
}
