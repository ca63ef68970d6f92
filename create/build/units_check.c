// SPDX-License-Identifier: GPL-3.0-or-later
// units_check.c - whether the build after the patch did what it should

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/build/inputs.h"
#include "create/build/record.h"
#include "create/build/units.h"
#include "create/tree/authors.h"
#include "create/tree/build.h"
#include "create/tree/link_options.h"
#include "create/tree/tree.h"

/*
 * A patched source without any compilation: the build went past the wrapper, or doesn't use the
 * source at all.
 */
static int check_compiled(const struct units *units, const strvec *patched, struct uspl_err *err)
{
	char **file;

	/* Of a patch that was refused for that the way back compiles nothing, either. */
	if (units->back || units_compiled(&units->post))
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
		return authors_say(-USPL_E_UNSUPPORTED, err, AUTHORS_UNSEEN);
	}
	return 0;
}

/* Every unit of a program that includes a patched file must have been compiled again. */
static int check_rebuilt(const struct units *units, const strvec *patched, struct uspl_err *err)
{
	const struct program *program;
	const struct input *input;

	vec_for_each (&units->programs, program) {
		vec_for_each (&program->pre, input) {
			bool depends = false;
			int rc;

			if (!input->record || units_post_record(units, input->name))
				continue;
			if (program->in_post && !strmap_get(&program->post_names, input->name))
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

int units_is_generated(const struct units *units, const struct record *post, const strvec *patched,
		       bool *ret, struct uspl_err *err)
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

static int note_generated(const struct units *units, const strvec *patched, struct uspl_err *err)
{
	auto_strvec strvec named = { 0 };
	struct record **slot;
	int rc = units_find_mentions(units, patched, &named, err);

	if (rc)
		return rc;
	vec_for_each (&units->post, slot) {
		const struct record *post = *slot, *pre = units_pre_record(units, post->output);
		bool generated = false, names = false, named_before = false;

		/* What a tool has written and compiled to try something out, and removed. */
		if (post->kind == RECORD_COMPILE &&
		    units_relative(units, post->source) == post->source &&
		    access(post->source, F_OK) < 0)
			continue;
		if (units_post_record(units, post->output) != post)
			continue;
		rc = units_is_generated(units, post, patched, &generated, err);
		if (!rc && generated)
			rc = record_depends(post, &named, &names, err);
		if (!rc && generated && pre)
			rc = record_depends(pre, &named, &named_before, err);
		if (rc)
			return rc;
		if (!generated || names || named_before)
			continue;
		rc = build_note(units->build, err,
				"the patch doesn't touch '%s', but a file that the build generates "
				"for it has changed",
				units_relative(units, post->source));
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- objects that other tools change ---- */

/* objcopy can give names another meaning, which our copies know nothing of. */
static int check_altered(const struct units *units, struct uspl_err *err)
{
	const struct program *program;
	const struct input *input;

	vec_for_each (&units->programs, program) {
		vec_for_each (&program->pre, input) {
			const struct record *post = units_post_record(units, input->name);

			if (!input->record || !post || input->record->altered == post->altered)
				continue;
			uspl_fail(
				err, USPL_E_UNSUPPORTED,
				"'%s' is changed by another tool after it is compiled (objcopy?), "
				"and %s the patch it %s",
				units_relative(units, input->name),
				post->altered ? "before" : "after",
				post->altered ? "wasn't" : "isn't");
			uspl_hint(err, "leave that step out of the patch, if the rest works "
				       "without");
			return -USPL_E_UNSUPPORTED;
		}
	}
	return 0;
}

/* ---- how programs are linked ---- */

static bool has_word(const char *options, const char *word, size_t len)
{
	size_t n;

	for (const char *p = link_options_next(options, &n); *p; p = link_options_next(p + n, &n))
		if (n == len && !strncmp(p, word, len))
			return true;
	return false;
}

/* The first word of one that the other hasn't, but for -Wl alone; "" if there is none. */
static const char *word_alone(const char *one, const char *other, size_t *ret_len)
{
	const char *p = link_options_next(one, ret_len);

	while (*p && (has_word(other, p, *ret_len) || (*ret_len == 3 && !strncmp(p, "-Wl", 3))))
		p = link_options_next(p + *ret_len, ret_len);
	return p;
}

/* Has one such an option that the other hasn't? What it is about may be the next word. */
static bool changes_names(const char *one, const char *other)
{
	/* By these a name means something else than objects say. */
	static const char *const names[] = { "wrap", "defsym", "Bsymbolic", "section-start", "T" };
	size_t len, next_len;

	for (const char *p = link_options_next(one, &len); *p;
	     p = link_options_next(p + len, &len)) {
		const char *next = link_options_next(p + len, &next_len);

		if (*p == '-' && TEXT_STARTS_WITH_ONE_OF(p + 1 + (len > 1 && p[1] == '-'), names) &&
		    (!has_word(other, p, len) || !has_word(other, next, next_len)))
			return true;
	}
	return false;
}

static int check_link(const struct units *units, const struct program *program,
		      struct uspl_err *err)
{
	const char *pre = program->pre_options ? program->pre_options : "";
	const char *post = program->post_options ? program->post_options : "";
	const char *name = units_relative(units, program->path);
	size_t len;
	const char *word = word_alone(post, pre, &len);
	bool is_new = *word;

	if (!is_new)
		word = word_alone(pre, post, &len);
	if (!*word)
		return 0;
	if (!changes_names(post, pre) && !changes_names(pre, post))
		return build_note(units->build, err,
				  "the patch changes how '%s' is linked ('%.*s' is %s): that takes "
				  "no effect in a process, whose program is linked already",
				  name, (int)len, word, is_new ? "new" : "gone");
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the patch changes what names mean when '%s' is linked ('%.*s' is %s)", name,
		  (int)len, word, is_new ? "new" : "gone");
	uspl_hint(err, "a program that runs is linked already: leave the option out of the patch, "
		       "and call what is new by its own name");
	return -USPL_E_UNSUPPORTED;
}

int units_check(const struct units *units, const strvec *patched, struct uspl_err *err)
{
	const struct program *program;
	int rc = check_compiled(units, patched, err);

	if (rc)
		return rc;
	rc = check_rebuilt(units, patched, err);
	if (rc)
		return rc;
	vec_for_each (&units->programs, program) {
		if (!program->in_post || !program->pre.n)
			continue;
		rc = check_link(units, program, err);
		if (rc)
			return rc;
	}
	rc = check_altered(units, err);
	if (rc)
		return rc;
	return note_generated(units, patched, err);
}
