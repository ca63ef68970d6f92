// SPDX-License-Identifier: GPL-3.0-or-later
// build_lines.c - unchanged lines keep their numbers
//
// A directive goes before the first line of each unchanged stretch whose number is off, or, where
// none may stand there, before the next line where one may. Directives in a branch that the
// compiler skips have no effect, so after the end of each branch there is another one.
//
// A new line has the number that follows from the line above it: near the truth, and nothing below
// it moves. Lines without a number of their own (blank, or in a comment) need no directive.

#include "create/build_lines.h"

#include <string.h>

int lines_split(const char *text, size_t len, line_list *ret, struct uspl_err *err)
{
	const char *end = text + len;

	for (const char *p = text; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct line *line = vec_push(ret);

		if (!line)
			return uspl_fail_nomem(err);
		line->text = p;
		line->len = (size_t)((newline ? newline + 1 : end) - p);
		p += line->len;
	}
	return 0;
}

static void write_lines(const line_list *lines, struct buf *ret)
{
	const struct line *line;
	bool any = false, sure = true;
	size_t number = 1; /* as the compiler counts */

	vec_for_each (lines, line) {
		if (line->old && line->safe && (number != line->old || !sure)) {
			buf_addf(ret, "#line %zu\n", line->old);
			number = line->old;
			any = sure = true;
		}
		buf_add(ret, line->text, line->len);
		number++;
		if (line->ends_group && any)
			sure = false;
	}
}

int lines_renumber(const struct buf *pre, const struct buf *post, struct buf *ret,
		   struct uspl_err *err)
{
	auto_lines line_list old = { 0 };
	auto_lines line_list new = { 0 };
	int rc = lines_split(buf_str(pre), pre->len, &old, err);

	if (!rc)
		rc = lines_split(buf_str(post), post->len, &new, err);
	if (!rc)
		rc = lines_pair(&old, &new, err);
	if (rc)
		return rc;
	if (lines_scan(&old) && lines_scan(&new))
		write_lines(&new, ret);
	else
		buf_add(ret, buf_str(post), post->len);
	return ret->oom ? uspl_fail_nomem(err) : 0;
}
