// SPDX-License-Identifier: GPL-3.0-or-later
// describe.c - a diff's own words

#include "create/describe.h"

#include <string.h>

#include "base/buf.h"

enum { MAX_DESCRIPTION = 200 };

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* True where the words end and the diff begins. */
static bool is_diff(const char *line)
{
	return starts_with(line, "--- ") || starts_with(line, "diff ") ||
	       starts_with(line, "Index: ") || starts_with(line, "@@ ") ||
	       starts_with(line, "---\n");
}

/* The line without "Subject: [PATCH 1/2] " or "Description: " before it. */
static const char *strip_label(const char *line)
{
	static const char *const labels[] = { "Subject:", "Description:" };

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		if (!starts_with(line, labels[i]))
			continue;
		line += strlen(labels[i]);
		line += strspn(line, " \t");
		if (starts_with(line, "[PATCH") && strcspn(line, "]\n") < strcspn(line, "\n"))
			line += strcspn(line, "]") + 1;
		return line + strspn(line, " \t");
	}
	return NULL;
}

/* A mail's header goes on in lines that begin with a blank. */
static size_t folded_len(const char *line, bool header)
{
	size_t len = strcspn(line, "\n");

	while (header && line[len] && (line[len + 1] == ' ' || line[len + 1] == '\t') &&
	       strspn(line + len + 1, " \t\r") < strcspn(line + len + 1, "\n"))
		len += 1 + strcspn(line + len + 1, "\n");
	return len && line[len - 1] == '\r' ? len - 1 : len;
}

static char *copy_line(const char *line, bool header)
{
	struct buf copy = { 0 };
	size_t len = folded_len(line, header);

	if (len > MAX_DESCRIPTION)
		len = MAX_DESCRIPTION;
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

/* Behind what `git show` says of a commit before its words. */
static const char *skip_commit(const char *text)
{
	if (!starts_with(text, "commit ") || strspn(text + 7, "0123456789abcdef") < 7)
		return text;
	while (*text && *text != '\n' && !is_diff(text)) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

char *describe_patch(const char *text)
{
	const char *first = NULL;

	text = skip_commit(text);
	while (*text && !is_diff(text)) {
		const char *labelled = strip_label(text);
		size_t len = strcspn(text, "\r\n");

		if (labelled)
			return copy_line(labelled, true);
		if (!first && len > strspn(text, " \t"))
			first = text;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return copy_line(first ? first + strspn(first, " \t") : "", false);
}
