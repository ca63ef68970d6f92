// SPDX-License-Identifier: GPL-3.0-or-later
// units_made.c - has the build made what it compiles of a source that the patch changes?
//
// Some rules make sources of others when they configure. Such a step has to be run again after the
// patch. What the build has made isn't in the tree that the user gave; if it was made of a patched
// source, a line of those that the patch shows is in it. Only lines that say something count: not
// what many files have. Mere copies follow their sources (copies.h).

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/build/copies.h"
#include "create/build/units.h"
#include "create/tree/paths.h"

enum { TELLING = 12 }; /* letters that a line must have */

/* Of a line of a diff that the tree has before or after it: its text; NULL for any other line. */
static char *telling_line(const char *line, size_t len)
{
	size_t letters = 0;

	if (!len || !strchr(" -", *line) || (len > 2 && !strncmp(line, "---", 3)))
		return NULL;
	line++, len--;
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	while (len && isspace((unsigned char)*line))
		line++, len--;
	if (len && *line == '#')
		return NULL;
	for (size_t i = 0; i < len; i++)
		letters += isalnum((unsigned char)line[i]) != 0;
	return letters < TELLING ? NULL : strndup(line, len);
}

static int find_lines(const char *patch, strvec *ret, struct uspl_err *err)
{
	for (const char *line = patch; *line; line = text_next_line(line)) {
		char *text = telling_line(line, strcspn(line, "\n"));

		if (text && !strvec_take(ret, text))
			return uspl_fail_nomem(err);
	}
	return 0;
}

char *units_made_path(const struct units *units, const struct content *content)
{
	auto_free char *path = content->gone ? NULL : realpath(content->path, NULL);
	const char *relative = path ? units_relative(units, path) : NULL;

	if (!path || relative == path || file_is_in(units->paths->source, relative))
		return NULL;
	return take_ptr(path);
}

int units_are_made_of(const struct units *units, const struct copies *copies, const char *patch,
		      bool *ret, struct uspl_err *err)
{
	auto_strvec strvec lines = { 0 };
	const struct content *content;
	int rc = find_lines(patch, &lines, err);

	if (rc)
		return rc;
	*ret = !lines.n; /* nothing would tell */
	vec_for_each (&units->contents, content) {
		auto_free char *path = *ret ? NULL : units_made_path(units, content);
		auto_buf struct buf text = { 0 };
		char **line;

		if (!path || strmap_get(&copies->all, path) || file_read(path, &text, NULL) != 0)
			continue;
		vec_for_each (&lines, line)
			*ret |= strstr(buf_str(&text), *line) != NULL;
	}
	return 0;
}
