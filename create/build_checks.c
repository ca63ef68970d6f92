// SPDX-License-Identifier: GPL-3.0-or-later
// build_checks.c - whether the build after the patch did what it should

#include "base/file.h"
#include "create/build_units.h"

/*
 * A patched source without any compilation: the build went past the wrapper, or doesn't use the
 * source at all.
 */
static int check_compiled(const struct units *units, const tree_files *patched,
			  struct uspl_err *err)
{
	char **file;

	if (units_compiled(&units->post))
		return 0;
	vec_for_each (patched, file) {
		if (!tree_is_source(file_basename(*file)))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the patch changes '%s', but the build compiled nothing after it",
			  units_relative(units, *file));
		uspl_hint(err,
			  "is it part of this program, and of what the build makes? a compiler "
			  "that is called by its absolute path isn't seen; --build=COMMAND "
			  "says how to build");
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

			if (!input->record || units_post_record(units, input->name))
				continue;
			if (program->in_post && !input_find(&program->post, input->name))
				continue;
			rc = record_depends(input->record, patched, &depends, err);
			if (rc)
				return rc;
			if (depends)
				return uspl_fail(err, USPL_E_UNSUPPORTED,
						 "the build after the patch didn't compile '%s' "
						 "again, which the patch changes",
						 units_relative(units, input->record->source));
		}
	}
	return 0;
}

/* True if a unit has another object now, though neither it nor what it includes is in the patch. */
static int is_generated(const struct units *units, const struct record *post,
			const tree_files *patched, bool *ret, struct uspl_err *err)
{
	const struct record *pre =
		post->kind == RECORD_COMPILE ? units_pre_record(units, post->output) : NULL;
	uint64_t before = 0, after = 0;
	bool depends = true;
	int rc = pre ? record_depends(post, patched, &depends, err) : 0;

	if (!rc && !depends)
		rc = input_hash_file(pre->saved, &before, err);
	if (!rc && !depends)
		rc = input_hash_file(post->saved, &after, err);
	*ret = before != after;
	return rc;
}

static int note_generated(const struct units *units, const tree_files *patched,
			  struct uspl_err *err)
{
	struct record **slot;

	vec_for_each (&units->post, slot) {
		const struct record *post = *slot;
		bool generated;
		int rc = is_generated(units, post, patched, &generated, err);

		if (!rc && generated)
			rc = build_note(units->build, err,
					"the patch doesn't touch '%s', but a file that the build "
					"generates for it has changed",
					units_relative(units, post->source));
		if (rc)
			return rc;
	}
	return 0;
}

int units_check(const struct units *units, const tree_files *patched, struct uspl_err *err)
{
	int rc = check_compiled(units, patched, err);

	if (!rc)
		rc = check_rebuilt(units, patched, err);
	return rc ? rc : note_generated(units, patched, err);
}
