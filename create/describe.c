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

static char *copy_line(const char *line)
{
	struct buf copy = { 0 };
	size_t len = strcspn(line, "\r\n");

	if (len > MAX_DESCRIPTION)
		len = MAX_DESCRIPTION;
	/* Control characters would play tricks on a terminal. */
	for (size_t i = 0; i < len; i++)
		buf_add(&copy, (unsigned char)line[i] < ' ' || line[i] == 0x7f ? " " : &line[i], 1);
	buf_add(&copy, "", 0);
	return buf_take(&copy);
}

char *describe_patch(const char *text)
{
	const char *first = NULL;

	while (*text && !is_diff(text)) {
		const char *labelled = strip_label(text);
		size_t len = strcspn(text, "\r\n");

		if (labelled)
			return copy_line(labelled);
		if (!first && len > strspn(text, " \t"))
			first = text;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return copy_line(first ? first : "");
}
