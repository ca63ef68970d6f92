// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * build_states.c - are line numbers states of a program, where they can't be kept?
 *
 * Coroutines made of a switch (protothreads and their like) leave a function in the middle, with the
 * line's number in a variable, and come back by `case __LINE__`. With another number they would come
 * back to another place, or to none. build_lines.c keeps the numbers; this is for the places where
 * it can't: sources with #line directives of their own, and unchanged lines between parentheses that
 * the patch adds lines to, before which no directive may stand.
 *
 * Which line is a state only the compiler knows. So all files that the source is compiled from are
 * searched for the label itself, which mostly is in a macro of a header. A label that gets the
 * number as a macro's argument isn't seen.
 */

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "create/build_patch.h"
#include "create/build_units.h"

/* Does "case" stand before p, with nothing but blanks and parentheses between? */
static bool follows_case(const char *text, const char *p)
{
	while (p > text && (isspace((unsigned char)p[-1]) || p[-1] == '(' || p[-1] == '\\'))
		p--;
	return p - text >= 4 && !memcmp(p - 4, "case", 4) &&
	       (p - text == 4 || (!isalnum((unsigned char)p[-5]) && p[-5] != '_'));
}

static bool has_label(const struct buf *text)
{
	const char *start = buf_str(text), *p = start;

	while ((p = strstr(p, "__LINE__"))) {
		if (follows_case(start, p))
			return true;
		p++;
	}
	return false;
}

static int note_label(const char *path, void *ctx, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	bool *found = ctx;

	(void)err;
	/* A header that isn't there any more was a temporary one. */
	if (!*found && !file_read(path, &text, NULL))
		*found = has_label(&text);
	return 0;
}

static int refuse(const struct units *units, const struct compiled_file *file, struct uspl_err *err)
{
	const char *name = units_relative(units, file->path);

	uspl_fail(err, USPL_E_DATA_CHANGE,
		  "%s:%zu: 'case __LINE__' makes states of line numbers, and the patch gives other "
		  "numbers to lines that it doesn't change, from here on",
		  name, file->kept.lost);
	if (file->kept.foreign)
		uspl_hint(err,
			  "'%s' has #line directives of its own; change as many lines as "
			  "there were, and add none",
			  name);
	else
		uspl_hint(err,
			  "leave as many lines as there were between the parentheses; put what "
			  "is new before the statement");
	return -USPL_E_DATA_CHANGE;
}

/* One patched source that lost numbers, in one unit that is compiled from it. */
static int check_unit(const struct units *units, const struct record *record,
		      const struct compiled_file *file, struct uspl_err *err)
{
	char *paths[] = { file->path };
	const tree_files files = { .items = paths, .n = 1, .cap = 1 };
	bool depends = false, label = false;
	int rc = record->kind == RECORD_COMPILE ? record_depends(record, &files, &depends, err) : 0;

	if (rc || !depends)
		return rc;
	rc = record_each_file(record, note_label, &label, err);
	if (rc)
		return rc;
	return label ? refuse(units, file, err) : 0;
}

int states_check(struct units *units, const struct numbering *numbering, struct uspl_err *err)
{
	const struct compiled_file *file;
	struct record **record;

	vec_for_each (&numbering->compiled, file) {
		if (!file->kept.lost)
			continue;
		vec_for_each (&units->post, record) {
			int rc = check_unit(units, *record, file, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}
