// SPDX-License-Identifier: GPL-3.0-or-later
// sections.c - a diff as a run of sections, one for each file

#include "create/patch/sections.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"
#include "create/patch/diff_read.h"

static void note_line(struct section *section, const char *line)
{
	if (text_starts_with(line, "--- "))
		section->from = line + 4;
	else if (text_starts_with(line, "+++ "))
		section->to = line + 4;
	else if (text_starts_with(line, "diff --git "))
		section->git = line + 11;
	section->is_new |=
		text_starts_with(line, "--- /dev/null") || text_starts_with(line, "new file mode");
	section->is_gone |= text_starts_with(line, "+++ /dev/null") ||
			    text_starts_with(line, "deleted file mode");
	/* diff -N gives a file that isn't there a time, not the name /dev/null. */
	section->is_new |= text_starts_with(line, "@@ -0,0 ");
	section->is_gone |= text_starts_with(line, "@@ -") &&
			    text_starts_with(line + strcspn(line, "+\n"), "+0,0 @@");
	section->binary |= diff_is_binary(line);
}

int sections_split(const char *text, section_list *ret, struct uspl_err *err)
{
	struct section *section = NULL;
	struct diff_hunk hunk = { 0, 0 };

	for (const char *line = text; *line; line = text_next_line(line)) {
		bool begins = text_starts_with(line, "diff ") || text_starts_with(line, "Index: ");

		if (diff_in_hunk(&hunk, line))
			continue;
		/* Not every diff has such a line. */
		if (!section || section->from)
			begins |= text_starts_with(line, "--- ") &&
				  text_starts_with(text_next_line(line), "+++ ");
		if (begins) {
			if (section)
				section->end = line;
			section = vec_push(ret);
			if (!section)
				return uspl_fail_nomem(err);
			section->start = line;
		}
		if (section)
			note_line(section, line);
	}
	if (section)
		section->end = text + strlen(text);
	return 0;
}

/* The name in a line, without the folder a/ or b/; allocated. */
static char *name_in(const char *text)
{
	size_t len = strcspn(text, "\t\r\n");

	if (len > 2 && (*text == 'a' || *text == 'b') && text[1] == '/')
		return strndup(text + 2, len - 2);
	return strndup(text, len);
}

char *section_name(const struct section *section)
{
	const char *second = section->git ? strstr(section->git, " b/") : NULL;

	if (section->to && !section->is_gone)
		return name_in(section->to);
	if (section->from && !section->is_new)
		return name_in(section->from);
	return second ? name_in(second + 1) : strdup("");
}

char *section_old_name(const struct section *section)
{
	static const char label[] = "\nrename from ";
	const char *line = memmem(section->start, (size_t)(section->end - section->start), label,
				  strlen(label));

	if (line)
		return name_in(line + strlen(label));
	return section->from && !section->is_new ? name_in(section->from) : section_name(section);
}

const char *section_hunks(const struct section *section)
{
	const char *at =
		memmem(section->start, (size_t)(section->end - section->start), "\n@@ ", 4);

	return at ? at + 1 : NULL;
}

void section_lines(const struct section *section, char sign, struct buf *ret)
{
	struct diff_hunk hunk = { 0, 0 };

	for (const char *line = section->start; line < section->end; line = text_next_line(line))
		if (diff_in_hunk(&hunk, line) && *line == sign)
			buf_add(ret, line + 1, (size_t)(text_next_line(line) - line) - 1);
}
