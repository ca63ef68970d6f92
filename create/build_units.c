// SPDX-License-Identifier: GPL-3.0-or-later
// build_units.c - from the wrapper's notes to units and links
//
// A unit is known by its object's path. Its object before the patch is the one that went into the program; its object after
// the patch is the one that the second build compiled, or the same if it didn't. A program that the second build linked again
// may have gained or lost objects; one that it did not link again has those it had.
//
// Strangers (build_inputs.c) do no harm as long as the patch doesn't change them, which is checked by their bytes.

#include "create/build_parts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"

/* A program or library that was linked, and of what in each build. */
struct program {
	char *path;
	struct build_link link; /* handed on to the build at the end */
	input_list pre, post;
	bool in_post; /* linked in the second build too */
};

struct units {
	struct build *build;
	const struct build_paths *paths;
	record_list pre, post;
	struct makers makers;
	VEC(struct program) programs;
	struct strmap known; /* "has-pre has-post OBJECT" -> index of the build_unit, plus 1 */
};

struct units *units_new(struct build *build, const struct build_paths *paths)
{
	struct units *units = calloc(1, sizeof(*units));

	if (!units)
		return NULL;
	units->build = build;
	units->paths = paths;
	units->makers.pre = &units->pre;
	return units;
}

void units_free(struct units *units)
{
	struct program *program;

	if (!units)
		return;
	vec_for_each (&units->programs, program) {
		input_list_release(&program->pre);
		input_list_release(&program->post);
		build_link_release(&program->link);
		free(program->path);
	}
	vec_release(&units->programs);
	makers_release(&units->makers);
	strmap_release(&units->known);
	record_release(&units->pre);
	record_release(&units->post);
	free(units);
}

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

/* The last link of an output is the one that counts. */
static int add_link(struct units *units, const struct record *record, bool post,
		    struct uspl_err *err)
{
	struct program *program = get_program(units, record->output);
	input_list *inputs;

	if (!program)
		return uspl_fail_nomem(err);
	inputs = post ? &program->post : &program->pre;
	input_list_release(inputs);
	program->in_post = post;
	return makers_resolve(&units->makers, record, inputs, err);
}

static int add_records(struct units *units, const record_list *records, bool post,
		       struct uspl_err *err)
{
	const struct record *record;

	vec_for_each (records, record) {
		int rc = 0;

		if (record->kind == RECORD_LINK)
			rc = add_link(units, record, post, err);
		else if (!makers_add(&units->makers, record))
			rc = uspl_fail_nomem(err);
		if (rc)
			return rc;
	}
	log_info("build", "%zu commands seen, %zu programs and libraries", records->n,
		 units->programs.n);
	return 0;
}

/* A path without the copy's folder; the path itself if it lies elsewhere. */
static const char *relative(const struct units *units, const char *path)
{
	size_t len = strlen(units->paths->tree);

	return !strncmp(path, units->paths->tree, len) && path[len] == '/' ? path + len + 1 : path;
}

/*
 * An object that was compiled again under the same name after it went into a program: what lies in the program is a stranger, since a
 * second compilation says nothing of it. Compiled again to the same bytes is fine.
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
			if (!rc)
				rc = input_hash_file(last->saved, &hash, err);
			if (rc)
				return rc;
			input->record = hash == input->hash ? last : NULL;
		}
	}
	return 0;
}

/* The build-ids of what the build made, and of what the user has at the same place: that is probably what runs. */
static int note_programs(struct units *units, struct uspl_err *err)
{
	struct program *program;
	int rc = 0;

	vec_for_each (&units->programs, program) {
		const char *name = relative(units, program->path);
		auto_free char *own = NULL;

		if (asprintf(&own, "%s/%s", units->paths->source, name) < 0) {
			own = NULL;
			return uspl_fail_nomem(err);
		}
		rc = linked_note(&program->link, program->path, err);
		if (!rc && name != program->path)
			rc = linked_note(&program->link, own, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool has_compilation(const record_list *records)
{
	const struct record *record;

	vec_for_each (records, record) {
		if (record->kind == RECORD_COMPILE)
			return true;
	}
	return false;
}

int units_add_pre(struct units *units, struct uspl_err *err)
{
	int rc;

	units->makers.tree = units->paths->tree;
	rc = record_read(units->paths->work, "pre", &units->pre, err);

	if (!rc && !has_compilation(&units->pre)) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the build compiled nothing that uspl-create could see");
		uspl_hint(err, "the compiler must be called by its name, not by an absolute path; "
			       "--build=COMMAND says how to build");
		return -USPL_E_UNSUPPORTED;
	}
	if (!rc)
		rc = add_records(units, &units->pre, false, err);
	if (!rc)
		rc = estrange_superseded(units, err);
	if (!rc)
		rc = note_programs(units, err);
	makers_forget_archives(&units->makers);
	return rc;
}

int units_renew_dependents(const struct units *units, const tree_files *files,
			   const struct timespec *now, struct uspl_err *err)
{
	struct timespec times[2] = { *now, *now };
	const struct record *record;

	vec_for_each (&units->pre, record) {
		bool depends = false;
		int rc;

		if (record->kind != RECORD_COMPILE ||
		    relative(units, record->source) == record->source)
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

/* ---- units ---- */

static bool is_post(const struct units *units, const struct record *record)
{
	return record >= units->post.items && record < units->post.items + units->post.n;
}

/* The object's compilation in the second build, NULL if there was none. */
static const struct record *post_record(const struct units *units, const char *object)
{
	const struct record *record = strmap_get(&units->makers.by_path, object);

	return record && units->post.n && is_post(units, record) ? record : NULL;
}

/* Fills a new unit. pre, post: its compilation, NULL if the unit isn't there in that build. */
static bool fill_unit(const struct units *units, struct build_unit *unit, const struct record *pre,
		      const struct record *post)
{
	const struct record *record = post ? post : pre;

	unit->source = strdup(relative(units, record->source));
	unit->object = strdup(relative(units, record->output));
	unit->pre_obj = pre ? strdup(pre->saved) : NULL;
	unit->post_obj = post ? strdup(post->saved) : NULL;
	return unit->source && unit->object && (!pre || unit->pre_obj) && (!post || unit->post_obj);
}

/* The index of the unit with these compilations, made if it isn't there. */
static int get_unit(struct units *units, const struct record *pre, const struct record *post,
		    size_t *ret, struct uspl_err *err)
{
	const char *object = post ? post->output : pre->output;
	auto_free char *key = NULL;
	struct build_unit *unit;
	size_t known;

	if (asprintf(&key, "%d%d%s", !!pre, !!post, object) < 0) {
		key = NULL;
		return uspl_fail_nomem(err);
	}
	known = (uintptr_t)strmap_get(&units->known, key);
	if (!known) {
		unit = vec_push(&units->build->units);
		known = units->build->units.n;
		if (!unit || !fill_unit(units, unit, pre, post) ||
		    !strmap_set(&units->known, key, (void *)(uintptr_t)known))
			return uspl_fail_nomem(err);
	}
	*ret = known - 1;
	return 0;
}

static int link_unit(struct units *units, struct build_link *link, const struct record *pre,
		     const struct record *post, struct uspl_err *err)
{
	size_t index = 0, *slot;
	int rc = get_unit(units, pre, post, &index, err);

	if (rc)
		return rc;
	vec_for_each (&link->units, slot) {
		if (*slot == index)
			return 0;
	}
	slot = vec_push(&link->units);
	if (!slot)
		return uspl_fail_nomem(err);
	*slot = index;
	return 0;
}

static const struct input *find_input(const input_list *inputs, const char *name)
{
	const struct input *input;

	vec_for_each (inputs, input) {
		if (!strcmp(input->name, name))
			return input;
	}
	return NULL;
}

static int stranger_changed(const struct units *units, const struct program *program,
			    const char *name, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the patch changes '%s' in '%s', which was made by no compilation that "
		  "uspl-create saw",
		  relative(units, name), relative(units, program->path));
	uspl_hint(err, "the compiler must be called by its name, not by an absolute path");
	return -USPL_E_UNSUPPORTED;
}

/* What the first build put into a program as a stranger must still be the same. */
static int check_stranger(const struct units *units, const struct program *program,
			  const struct input *was, struct uspl_err *err)
{
	const struct input *now = program->in_post ? find_input(&program->post, was->name) : NULL;
	const struct record *record = now ? now->record : post_record(units, was->name);
	uint64_t hash = now ? now->hash : was->hash;
	int rc = record ? input_hash_file(record->saved, &hash, err) : 0;

	if (rc)
		return rc;
	if (hash == was->hash && !(now && (was->gone || now->gone)))
		return 0;
	return stranger_changed(units, program, was->name, err);
}

static int add_old_input(struct units *units, struct program *program, const struct input *input,
			 struct uspl_err *err)
{
	const struct record *post;

	if (!input->record)
		return check_stranger(units, program, input, err);
	if (program->in_post && !find_input(&program->post, input->name))
		return link_unit(units, &program->link, input->record, NULL, err);
	post = post_record(units, input->name);
	return link_unit(units, &program->link, input->record, post ? post : input->record, err);
}

static int add_new_input(struct units *units, struct program *program, const struct input *input,
			 struct uspl_err *err)
{
	if (find_input(&program->pre, input->name))
		return 0;
	if (!input->record)
		return stranger_changed(units, program, input->name, err);
	return link_unit(units, &program->link, NULL, input->record, err);
}

static int finish_program(struct units *units, struct program *program, struct uspl_err *err)
{
	const struct input *input;
	struct build_link *link;
	int rc = 0;

	vec_for_each (&program->pre, input) {
		if (!rc)
			rc = add_old_input(units, program, input, err);
	}
	vec_for_each (&program->post, input) {
		if (!rc)
			rc = add_new_input(units, program, input, err);
	}
	if (rc)
		return rc;
	program->link.path = strdup(relative(units, program->path));
	link = program->link.path ? vec_push(&units->build->links) : NULL;
	if (!link)
		return uspl_fail_nomem(err);
	*link = program->link;
	program->link = (struct build_link){ 0 };
	return 0;
}

/* Units that are in no program: a patch to them must not pass for one that changes nothing. */
static int add_unlinked(struct units *units, struct uspl_err *err)
{
	const struct record *record, *pre;

	vec_for_each (&units->post, record) {
		size_t index;
		int rc;

		if (record->kind != RECORD_COMPILE)
			continue;
		pre = NULL;
		vec_for_each (&units->pre, pre) {
			if (pre->kind == RECORD_COMPILE && !strcmp(pre->output, record->output))
				break;
		}
		if (pre == units->pre.items + units->pre.n)
			pre = NULL;
		rc = get_unit(units, pre, record, &index, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A patched source without any compilation: the build went past the wrapper, or doesn't use the source at all. */
static int check_compiled(const struct units *units, const tree_files *patched,
			  struct uspl_err *err)
{
	char **file;

	if (has_compilation(&units->post))
		return 0;
	vec_for_each (patched, file) {
		if (!tree_is_source(file_basename(*file)))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the patch changes '%s', but the build compiled nothing after it",
			  relative(units, *file));
		uspl_hint(err, "is it part of this program? the compiler must be called by its "
			       "name, not by an absolute path; --build=COMMAND says how to build");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

/* Every unit of a program that includes a patched file must have been compiled again. */
static int check_rebuilt(const struct units *units, const tree_files *patched, struct uspl_err *err)
{
	const struct program *program;
	const struct input *input;

	vec_for_each (&units->programs, program) {
		vec_for_each (&program->pre, input) {
			bool depends = false;
			int rc;

			if (!input->record || post_record(units, input->name))
				continue;
			if (program->in_post && !find_input(&program->post, input->name))
				continue;
			rc = record_depends(input->record, patched, &depends, err);
			if (rc)
				return rc;
			if (depends)
				return uspl_fail(err, USPL_E_UNSUPPORTED,
						 "the build after the patch didn't compile '%s' "
						 "again, which the patch changes",
						 relative(units, input->record->source));
		}
	}
	return 0;
}

static int compare_links(const void *a, const void *b)
{
	const struct build_link *one = a, *other = b;

	return strcmp(one->path, other->path);
}

static int compare_units(const void *a, const void *b, void *ctx)
{
	const struct build *build = ctx;
	const size_t *one = a, *other = b;

	return strcmp(build->units.items[*one].object, build->units.items[*other].object);
}

/* Records come in the order in which parallel commands happened to end; what is made of them must not depend on it. */
static void sort(struct build *build)
{
	struct build_link *link;

	if (build->links.n)
		qsort(build->links.items, build->links.n, sizeof(*link), compare_links);
	vec_for_each (&build->links, link) {
		if (link->units.n)
			qsort_r(link->units.items, link->units.n, sizeof(*link->units.items),
				compare_units, build);
	}
}

int units_add_post(struct units *units, const tree_files *patched, struct uspl_err *err)
{
	struct program *program;
	int rc = record_read(units->paths->work, "post", &units->post, err);

	units->makers.post = &units->post;
	if (!rc)
		rc = add_records(units, &units->post, true, err);
	if (!rc)
		rc = check_compiled(units, patched, err);
	if (!rc)
		rc = check_rebuilt(units, patched, err);
	vec_for_each (&units->programs, program) {
		if (!rc)
			rc = finish_program(units, program, err);
	}
	if (!rc)
		rc = add_unlinked(units, err);
	if (!rc)
		sort(units->build);
	return rc;
}
