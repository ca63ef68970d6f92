// SPDX-License-Identifier: GPL-3.0-or-later
// describe.c - a diff's own words

#include "create/patch/describe.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/text.h"

enum { MAX_DESCRIPTION = 200 };

/* True where the words end and the diff begins. */
static bool is_diff(const char *line)
{
	return text_starts_with(line, "--- ") || text_starts_with(line, "diff ") ||
	       text_starts_with(line, "Index: ") || text_starts_with(line, "@@ ") ||
	       text_starts_with(line, "---\n") || text_starts_with(line, "---\r\n");
}

/* Without "Re: [PATCH v2 1/2] [list] " before it, as git am takes them off. */
static const char *strip_subject(const char *text)
{
	for (;;) {
		size_t len = strcspn(text, "\r\n");

		text += strspn(text, " \t");
		if (!strncasecmp(text, "re:", 3))
			text += 3;
		else if (*text == '[' && strcspn(text, "]") < len)
			text += strcspn(text, "]") + 1;
		else
			return text;
	}
}

/* The line without "Subject: " or "Description: " before it. */
static const char *strip_label(const char *line)
{
	static const char subject[] = "Subject:", description[] = "Description:";

	if (!strncasecmp(line, subject, strlen(subject)))
		return strip_subject(line + strlen(subject));
	if (!text_starts_with(line, description))
		return NULL;
	line += strlen(description);
	return line + strspn(line, " \t");
}

static char *copy_line(const char *line, bool header)
{
	struct buf copy = { 0 };
	size_t len = strcspn(line, "\n");

	/* A mail's header goes on in lines that begin with a blank. */
	while (header && line[len] && (line[len + 1] == ' ' || line[len + 1] == '\t') &&
	       strspn(line + len + 1, " \t\r") < strcspn(line + len + 1, "\n"))
		len += 1 + strcspn(line + len + 1, "\n");
	if (len && line[len - 1] == '\r')
		len--;
	/* Not in the middle of a character. */
	if (len > MAX_DESCRIPTION)
		for (len = MAX_DESCRIPTION; len && ((unsigned char)line[len] & 0xc0) == 0x80; len--)
			;
	/* Control characters would play tricks on a terminal. */
	for (size_t i = 0; i < len; i++) {
		bool control = (unsigned char)line[i] < ' ' || line[i] == 0x7f;

		/* Of a folded line's end and the blank behind it one is enough. */
		if (header && strchr("\r\n", line[i]))
			continue;
		buf_add(&copy, control ? " " : &line[i], 1);
	}
	buf_add(&copy, "", 0);
	return buf_take(&copy);
}

char *describe_patch(const char *text)
{
	const char *first = NULL;

	/* What `git show` says of a commit before its words. */
	if (text_starts_with(text, "commit ") && strspn(text + 7, "0123456789abcdef") >= 7)
		while (*text && *text != '\n' && !is_diff(text))
			text = text_next_line(text);
	while (*text && !is_diff(text)) {
		const char *labelled = strip_label(text);
		size_t len = strcspn(text, "\r\n");

		if (labelled)
			return copy_line(labelled, true);
		if (!first && len > strspn(text, " \t"))
			first = text;
		text = text_next_line(text);
	}
	return copy_line(first ? first + strspn(first, " \t") : "", false);
}
