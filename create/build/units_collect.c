// SPDX-License-Identifier: GPL-3.0-or-later
// units_collect.c - what each of the two builds made of what

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "create/build/inputs.h"
#include "create/build/linked_note.h"
#include "create/build/record.h"
#include "create/build/renamed.h"
#include "create/build/units.h"
#include "create/tree/authors.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

/* ---- the two builds ---- */

static struct program *get_program(struct units *units, const char *path)
{
	struct program *program;

	vec_for_each (&units->programs, program) {
		if (!strcmp(program->path, path))
			return program;
	}
	program = vec_push(&units->programs);
	if (program)
		program->path = strdup(path);
	return program && program->path ? program : NULL;
}

static bool set_string(char **place, const char *text)
{
	free(*place);
	*place = text ? strdup(text) : NULL;
	return *place || !text;
}

/*
 * A program that is gone, as is a source of it, was made to try something out (configure's, as
 * objs/autotest of nginx): no process runs it, and no later build makes it.
 */
static bool was_a_trial(const char *path, const input_list *inputs)
{
	const struct input *input;

	if (access(path, F_OK) == 0)
		return false;
	vec_for_each (inputs, input)
		if (input->gone || input->removed ||
		    (input->record && input->record->kind == RECORD_COMPILE &&
		     access(input->record->source, F_OK) < 0))
			return true;
	return false;
}

/* The last link of an output is the one that counts. */
static int add_link(struct units *units, const struct record *record, bool post,
		    struct uspl_err *err)
{
	auto_free char *path = NULL;
	struct program *program;
	input_list found = { 0 };
	input_list *inputs;
	int rc = renamed_find(units->paths, record, &path, err);

	if (!rc)
		rc = makers_resolve(&units->makers, record, &found, err);
	if (rc || was_a_trial(path, &found)) {
		input_list_release(&found);
		return rc;
	}
	program = get_program(units, path);
	if (!program) {
		input_list_release(&found);
		return uspl_fail_nomem(err);
	}
	inputs = post ? &program->post : &program->pre;
	input_list_release(inputs);
	*inputs = found;
	program->in_post = post;
	program->linked = record->saved;
	*(post ? &program->post_options : &program->pre_options) = record->command;
	if (!post && (!set_string(&program->link.file, record->saved) ||
		      !set_string(&program->link.before, record->saved)))
		return uspl_fail_nomem(err);
	return 0;
}

/*
 * Some builds compile every source to one temporary name, and then rename what came of it. Such
 * objects are known by their bytes (inputs.c); their sources tell which is which in both builds.
 */
static int find_shared(struct units *units, const record_list *records, struct uspl_err *err)
{
	auto_strmap struct strmap sources = { 0 };
	struct record **slot;

	vec_for_each (records, slot) {
		const struct record *record = *slot, *other;

		if (record->kind != RECORD_COMPILE)
			continue;
		other = strmap_get(&sources, record->output);
		if (!other && !strmap_set(&sources, record->output, *slot))
			return uspl_fail_nomem(err);
		if (other && strcmp(other->source, record->source) &&
		    !strmap_set(&units->shared, record->output, units))
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* Gives an object that shares its name one of its own; by the old one it stays known, too. */
static int name_apart(struct units *units, struct record *record, struct uspl_err *err)
{
	char *name = NULL;

	if (record->kind != RECORD_COMPILE || !strmap_get(&units->shared, record->output))
		return 0;
	if (!strmap_set(&units->makers.by_path, record->output, record) ||
	    asprintf(&name, "%s:%s", record->output, units_relative(units, record->source)) < 0)
		return uspl_fail_nomem(err);
	free(record->output);
	record->output = name;
	return 0;
}

static int add_records(struct units *units, const record_list *records, bool post,
		       struct uspl_err *err)
{
	struct record **record;
	int first = post ? 0 : find_shared(units, records, err);

	if (first)
		return first;
	vec_for_each (records, record) {
		int rc = name_apart(units, *record, err);

		if (rc)
			return rc;
		(*record)->step = units->step;
		if ((*record)->kind == RECORD_LINK)
			rc = add_link(units, *record, post, err);
		else if (!makers_add(&units->makers, *record))
			rc = uspl_fail_nomem(err);
		if (rc)
			return rc;
	}
	log_info("build", "%zu commands seen, %zu programs and libraries", records->n,
		 units->programs.n);
	return 0;
}

/*
 * An object that was compiled again under the same name after it went into a program: what lies in
 * the program is a stranger, since a second compilation says nothing of it. Compiled again to the
 * same bytes is fine.
 */
static int estrange_superseded(struct units *units, struct uspl_err *err)
{
	struct program *program;
	struct input *input;

	vec_for_each (&units->programs, program) {
		vec_for_each (&program->pre, input) {
			const struct record *last = strmap_get(&units->makers.by_path, input->name);
			uint64_t hash;
			int rc;

			if (!input->record || !last || last == input->record)
				continue;
			rc = input_hash_file(input->record->saved, &input->hash, err);
			if (rc)
				return rc;
			rc = input_hash_file(last->saved, &hash, err);
			if (rc)
				return rc;
			input->record = hash == input->hash ? last : NULL;
		}
	}
	return 0;
}

/*
 * The build-ids of what the build made, and of what the user has at the same place: that is
 * probably what runs.
 */
static int note_programs(struct units *units, struct uspl_err *err)
{
	struct program *program;
	int rc = 0;

	vec_for_each (&units->programs, program) {
		const char *name = units_relative(units, program->path);
		auto_free char *own = NULL;
		size_t built;

		own = text_format("%s/%s", units->paths->source, name);
		if (!own)
			return uspl_fail_nomem(err);
		rc = linked_note(&program->link, program->path, err);
		if (rc)
			return rc;
		built = program->link.build_ids.n;
		if (name != program->path)
			rc = linked_note(&program->link, own, err);
		if (rc)
			return rc;
		/* If the user's own has none that is new, it has the same one. */
		if (program->link.build_ids.n > built || access(own, F_OK) < 0)
			program->link.n_passing = built;
	}
	return 0;
}

bool units_compiled(const record_list *records)
{
	struct record **record;

	vec_for_each (records, record) {
		if ((*record)->kind == RECORD_COMPILE)
			return true;
	}
	return false;
}

int units_add_pre(struct units *units, struct uspl_err *err)
{
	int rc;

	units->makers.tree = units->paths->tree;
	rc = record_read(units->paths->work, "pre", &units->pre, err);
	if (rc)
		return rc;
	if (!units_compiled(&units->pre)) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the build compiled nothing that uspl-create could see");
		uspl_hint(err, "it may compile in another step (when it installs), or call the "
			       "compiler by its absolute path; --build=COMMAND says how to build");
		return authors_say(-USPL_E_UNSUPPORTED, err, AUTHORS_UNSEEN);
	}
	rc = add_records(units, &units->pre, false, err);
	if (rc)
		return rc;
	rc = estrange_superseded(units, err);
	if (rc)
		return rc;
	rc = note_programs(units, err);
	if (rc)
		return rc;
	rc = units_note_altered(units, &units->pre, err);
	if (rc)
		return rc;
	rc = units_note_contents(units, err);
	if (rc)
		return rc;
	makers_forget_archives(&units->makers);
	return 0;
}

int units_renew_all(const struct units *units, const struct timespec *now, struct uspl_err *err)
{
	struct timespec times[2] = { *now, *now };
	struct record **slot;

	vec_for_each (&units->pre, slot) {
		const struct record *record = *slot;

		if (record->kind == RECORD_COMPILE &&
		    units_relative(units, record->source) != record->source &&
		    access(record->source, F_OK) == 0 &&
		    utimensat(AT_FDCWD, record->source, times, 0) < 0)
			return uspl_fail_errno(err, "cannot set the time of '%s'", record->source);
	}
	return 0;
}

int units_renew_dependents(const struct units *units, const strvec *files,
			   const struct timespec *now, struct uspl_err *err)
{
	struct timespec times[2] = { *now, *now };
	struct record **slot;

	vec_for_each (&units->pre, slot) {
		const struct record *record = *slot;
		bool depends = false;
		int rc;

		if (record->kind != RECORD_COMPILE ||
		    units_relative(units, record->source) == record->source)
			continue;
		rc = record_depends(record, files, &depends, err);
		if (rc)
			return rc;
		/* A source that the patch removed has no time to set. */
		if (depends && access(record->source, F_OK) == 0 &&
		    utimensat(AT_FDCWD, record->source, times, 0) < 0)
			return uspl_fail_errno(err, "cannot set the time of '%s'", record->source);
	}
	return 0;
}

/* The first of each name. */
static int index_inputs(const input_list *inputs, struct strmap *names, struct uspl_err *err)
{
	struct input *input;

	strmap_release(names);
	vec_for_each (inputs, input)
		if (!strmap_get(names, input->name) && !strmap_set(names, input->name, input))
			return uspl_fail_nomem(err);
	return 0;
}

int units_read_post(struct units *units, struct build *build, struct uspl_err *err)
{
	struct program *program;
	struct record **record;
	int rc = record_read(units->paths->work, "post", &units->post, err);

	units->build = build;
	units->step++;
	units->makers.post = &units->post;
	if (rc)
		return rc;
	strmap_release(&units->pre_objects);
	vec_for_each (&units->pre, record)
		if (((*record)->kind == RECORD_COMPILE || (*record)->kind == RECORD_LTO) &&
		    !strmap_set(&units->pre_objects, (*record)->output, *record))
			return uspl_fail_nomem(err);
	rc = add_records(units, &units->post, true, err);
	if (rc)
		return rc;
	rc = units_note_altered(units, &units->post, err);
	if (rc)
		return rc;
	vec_for_each (&units->programs, program) {
		rc = index_inputs(&program->pre, &program->pre_names, err);
		if (rc)
			return rc;
		rc = index_inputs(&program->post, &program->post_names, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- the next step ---- */

/* A program that wasn't linked again has the objects that it had, as they are now. */
static int program_start_over(const struct units *units, struct program *program,
			      struct uspl_err *err)
{
	struct input *input;

	if (program->in_post) {
		if (!set_string(&program->link.before, program->linked))
			return uspl_fail_nomem(err);
		input_list_release(&program->pre);
		program->pre = program->post;
		program->post = (input_list){ 0 };
		program->pre_options = program->post_options;
		program->in_post = false;
		return 0;
	}
	vec_for_each (&program->pre, input) {
		const struct record *post = units_post_record(units, input->name);

		if (post)
			input->record = post;
	}
	return 0;
}

int units_start_over(struct units *units, struct uspl_err *err)
{
	auto_free char *record = file_join(units->paths->work, "record-post");
	struct program *program;
	struct record **post;
	int rc;

	vec_for_each (&units->programs, program) {
		rc = program_start_over(units, program, err);
		if (rc)
			return rc;
	}
	vec_for_each (&units->post, post) {
		struct record **slot = vec_push(&units->pre);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = take_ptr(*post);
	}
	record_release(&units->post);
	units->makers.post = NULL;
	makers_forget_archives(&units->makers);
	strmap_release(&units->known);
	strmap_release(&units->optimised);
	vec_release(&units->last_link);
	rc = units_note_contents(units, err);
	if (rc)
		return rc;
	return record ? file_remove_tree(record, err) : uspl_fail_nomem(err);
}
