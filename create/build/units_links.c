// SPDX-License-Identifier: GPL-3.0-or-later
// units_links.c - from two builds to the pairs of objects of each program
//
// A unit is known by its object's path. Its object before the patch is the one that went into the
// program; its object after the patch is the one that the second build compiled, or the same if it
// didn't. A program that the second build linked again may have gained or lost objects; one that it
// did not link again has those it had.
//
// Strangers (inputs.c) do no harm as long as the patch doesn't change them, which is checked
// by their bytes.

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "create/build/inputs.h"
#include "create/build/record.h"
#include "create/build/units.h"
#include "create/tree/authors.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

/* The index of the unit with these compilations, made if it isn't there. */
static int get_unit(struct units *units, const struct record *pre, const struct record *post,
		    size_t *ret, struct uspl_err *err)
{
	const struct record *record = post ? post : pre;
	auto_free char *key = NULL;
	struct build_unit *unit;
	size_t known;

	key = text_format("%d%d%s", !!pre, !!post, record->output);
	if (!key)
		return uspl_fail_nomem(err);
	known = (uintptr_t)strmap_get(&units->known, key);
	if (!known) {
		unit = vec_push(&units->build->units);
		known = units->build->units.n;
		if (!unit || !strmap_set(&units->known, key, (void *)(uintptr_t)known))
			return uspl_fail_nomem(err);
		unit->source = strdup(units_relative(units, record->source));
		unit->object = strdup(units_relative(units, record->output));
		unit->pre_obj = pre ? strdup(pre->saved) : NULL;
		unit->post_obj = post ? strdup(post->saved) : NULL;
		if (!unit->source || !unit->object || (pre && !unit->pre_obj) ||
		    (post && !unit->post_obj))
			return uspl_fail_nomem(err);
	}
	*ret = known - 1;
	return 0;
}

/*
 * With other options all functions may have changed, and none by the patch; unless it is the patch
 * that changes the options, and this is what it is for.
 */
static int check_command(const struct units *units, const struct record *pre,
			 const struct record *post, struct uspl_err *err)
{
	size_t at = 0;

	if (!strcmp(pre->command, post->command) || units->new_options)
		return 0;
	/* The start of the word in which they begin to differ. */
	while (pre->command[at] && pre->command[at] == post->command[at])
		at++;
	while (at && pre->command[at - 1] != ' ')
		at--;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "'%s' is compiled with other options after the patch, which doesn't change them: "
		  "'%.80s' was '%.80s'",
		  units_relative(units, post->source), post->command + at, pre->command + at);
	uspl_hint(err, "a build must do the same each time: say how with --build=COMMAND");
	return -USPL_E_UNSUPPORTED;
}

/* Is the code of a program made at its link, or a part of it? */
static bool is_optimised(const input_list *inputs)
{
	const struct input *input;

	vec_for_each (inputs, input)
		if (input->record && input->record->kind == RECORD_LTO)
			return true;
	return false;
}

/*
 * An object for link-time optimisation. Its code is in the object that the program's link has made,
 * which is a unit of its own: *ret tells. In fat ones the code is what is linked, if it wasn't.
 */
static int check_optimised(struct units *units, const struct program *program,
			   const struct record *pre, const struct record *post, bool *ret,
			   struct uspl_err *err)
{
	const struct record *record = post ? post : pre;
	const char *options = program->pre_options;
	bool was = pre && pre->lto != LTO_NONE && is_optimised(&program->pre);
	bool is = post && post->lto != LTO_NONE &&
		  is_optimised(program->in_post ? &program->post : &program->pre);

	*ret = was || is;
	if (record->lto == LTO_NONE)
		return 0;
	/* What isn't compiled again is the same in both builds, whatever the link makes of it. */
	if (!*ret && pre != post &&
	    (record->lto == LTO_SLIM || (options && strstr(options, "-plugin")))) {
		uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"'%s' was compiled for link-time optimisation, and uspl-create doesn't see "
			"the code that the link of '%s' makes of it",
			units_relative(units, record->source),
			units_relative(units, program->path));
		uspl_hint(err, "it is seen where gcc or clang links; build with -fno-lto, if the "
			       "running program was");
		return -USPL_E_UNSUPPORTED;
	}
	if (!*ret)
		return 0;
	if (pre && post && (was != is || (!program->in_post && pre != post)))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' was optimised when it was linked, and the build after the "
				 "patch %s",
				 units_relative(units, program->path),
				 was != is ? "links it without" : "doesn't link it again");
	return strmap_set(&units->optimised, record->output, units) ? 0 : uspl_fail_nomem(err);
}

static int link_unit(struct units *units, struct program *program, const struct record *pre,
		     const struct record *post, struct uspl_err *err)
{
	struct build_link *link = &program->link;
	size_t index = 0, *slot;
	bool elsewhere;
	int rc = pre && post ? check_command(units, pre, post, err) : 0;

	if (rc)
		return rc;
	rc = check_optimised(units, program, pre, post, &elsewhere, err);
	if (rc || elsewhere)
		return rc;
	rc = get_unit(units, pre, post, &index, err);
	if (rc)
		return rc;
	while (units->last_link.n <= index)
		if (!vec_push(&units->last_link))
			return uspl_fail_nomem(err);
	/* It is in the link already. */
	if (units->last_link.items[index] == link)
		return 0;
	units->last_link.items[index] = link;
	slot = vec_push(&link->units);
	if (!slot)
		return uspl_fail_nomem(err);
	*slot = index;
	return 0;
}

static int stranger_changed(const struct units *units, const struct program *program,
			    const char *name, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the patch changes '%s' in '%s', which was made by no compilation that "
		  "uspl-create saw",
		  units_relative(units, name), units_relative(units, program->path));
	uspl_hint(err, "such objects come with the source, from another tool than a compiler, or "
		       "from one that the build calls by its absolute path, past uspl-create");
	return authors_say(-USPL_E_UNSUPPORTED, err, AUTHORS_UNSEEN);
}

static int add_old_input(struct units *units, struct program *program, const struct input *input,
			 struct uspl_err *err)
{
	const struct input *now =
		program->in_post ? strmap_get(&program->post_names, input->name) : NULL;
	const struct record *post = units_post_record(units, input->name);
	uint64_t hash = now ? now->hash : input->hash;
	int rc;

	if (input->outside)
		return 0;
	if (input->record && program->in_post && !now)
		return link_unit(units, program, input->record, NULL, err);
	if (input->record)
		return link_unit(units, program, input->record, post ? post : input->record, err);
	/* What the first build put into a program as a stranger must still be the same. */
	if (now)
		post = now->record;
	rc = post ? input_hash_file(post->saved, &hash, err) : 0;
	if (rc)
		return rc;
	if (hash == input->hash && !(now && (input->gone || now->gone)))
		return 0;
	return stranger_changed(units, program, input->name, err);
}

/*
 * What the link after the patch takes from an archive that the tree didn't make, and the link
 * before it didn't: of the compiler's own library, the C library's part that is linked into each
 * program, or another one. New code may need it, and the process hasn't got it: it comes along as
 * if it were a source of the patch's.
 */
static int add_outside(struct units *units, struct program *program, const struct input *input,
		       struct uspl_err *err)
{
	const struct arfile_member *member = NULL;
	struct record *record, **slot;
	int rc = makers_find_outside(&units->makers, input, &member, err);

	if (rc || !member)
		return rc;
	slot = vec_push(&units->outside);
	record = slot ? *slot = calloc(1, sizeof(*record)) : NULL;
	if (!record)
		return uspl_fail_nomem(err);
	record->kind = RECORD_COMPILE;
	record->source = strdup(input->name);
	record->output = strdup(input->name);
	record->command = strdup("");
	record->step = units->step;
	record->saved = text_format("%s/outside-%zu.o", units->paths->work, units->outside.n);
	if (!record->source || !record->output || !record->command || !record->saved)
		return uspl_fail_nomem(err);
	rc = file_write(record->saved, member->data, member->len, err);
	if (rc)
		return rc;
	return link_unit(units, program, NULL, record, err);
}

/* The next step wants to know what is known of the file, too: it gets a copy. */
static bool copy_facts(const struct build_link *from, struct build_link *to)
{
	char **id;

	to->n_passing = from->n_passing;
	to->soname = from->soname ? strdup(from->soname) : NULL;
	to->file = from->file ? strdup(from->file) : NULL;
	to->before = from->before ? strdup(from->before) : NULL;
	vec_for_each (&from->build_ids, id)
		if (!strvec_add(&to->build_ids, *id))
			return false;
	return (to->soname || !from->soname) && (to->file || !from->file) &&
	       (to->before || !from->before);
}

static int finish_program(struct units *units, struct program *program, struct uspl_err *err)
{
	const struct input *input;
	struct build_link *link;
	int rc;

	vec_for_each (&program->pre, input) {
		rc = add_old_input(units, program, input, err);
		if (rc)
			return rc;
	}
	vec_for_each (&program->post, input) {
		if (strmap_get(&program->pre_names, input->name))
			continue;
		if (input->outside)
			rc = add_outside(units, program, input, err);
		else
			rc = input->record ? link_unit(units, program, NULL, input->record, err)
					   : stranger_changed(units, program, input->name, err);
		if (rc)
			return rc;
	}
	link = vec_push(&units->build->links);
	if (!link || !copy_facts(&program->link, link))
		return uspl_fail_nomem(err);
	link->units.items = take_ptr(program->link.units.items);
	link->units.n = program->link.units.n;
	program->link.units.n = program->link.units.cap = 0;
	link->path = strdup(units_relative(units, program->path));
	link->options = program->pre_options ? strdup(program->pre_options) : NULL;
	return link->path && (link->options || !program->pre_options) ? 0 : uspl_fail_nomem(err);
}

static int compare_links(const void *a, const void *b)
{
	const struct build_link *one = a, *other = b;

	return strcmp(one->path, other->path);
}

/* Fills build->units and build->links, when both builds are taken in. */
static int finish(struct units *units, struct uspl_err *err)
{
	struct build *build = units->build;
	struct program *program;
	struct record **record;
	int rc = 0;

	vec_for_each (&units->programs, program) {
		rc = finish_program(units, program, err);
		if (rc)
			return rc;
	}
	/* Units that are in no program: a patch to them must not pass for one without changes. */
	vec_for_each (&units->post, record) {
		const struct record *pre = units_pre_record(units, (*record)->output);
		size_t index;

		if ((*record)->kind != RECORD_COMPILE ||
		    strmap_get(&units->optimised, (*record)->output))
			continue;
		rc = get_unit(units, pre, *record, &index, err);
		if (rc)
			return rc;
	}
	/*
	 * Records come in the order in which parallel commands happened to end; what is made of
	 * them must not depend on it. The units of each are in the linker's order, which does not.
	 */
	if (build->links.n)
		qsort(build->links.items, build->links.n, sizeof(*build->links.items),
		      compare_links);
	return 0;
}

int units_add_post(struct units *units, const strvec *patched, struct build *build,
		   struct uspl_err *err)
{
	char **file;
	int rc = units_read_post(units, build, err);

	if (rc)
		return rc;
	/* A file that isn't a source may be a makefile, or what one is made of. */
	units->new_options = false;
	vec_for_each (patched, file)
		units->new_options |= !tree_is_source(file_basename(*file));
	rc = units_check(units, patched, err);
	if (rc)
		return rc;
	return finish(units, err);
}
