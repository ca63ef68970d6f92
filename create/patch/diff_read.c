// SPDX-License-Identifier: GPL-3.0-or-later
// diff_read.c - reading diffs
//
// Before patch(1) sees a diff, every name in it is checked: patch would pass over a name that leads
// out of the tree and take another one; we refuse, since no honest diff has one. Lines of a hunk
// may look like anything, so they are counted.

#include "create/patch/diff_read.h"

#include "base/strmap.h"
#include "base/text.h"
#include "create/patch/mail.h"

#include <string.h>

#include "base/file.h"

/* ---- names ---- */

/* A C string in quotes, as git writes unusual names. Returns what follows it. */
static const char *unquote(const char *p, struct buf *name)
{
	for (p++; *p && *p != '"' && *p != '\n'; p++) {
		char c = *p;

		if (c == '\\' && p[1] >= '0' && p[1] <= '3') {
			int value = 0;

			for (int i = 0; i < 3 && p[1] >= '0' && p[1] <= '7'; i++)
				value = value * 8 + (*++p - '0');
			c = (char)value;
		} else if (c == '\\' && p[1]) {
			c = *++p;
		}
		buf_add(name, &c, 1);
	}
	return *p == '"' ? p + 1 : p;
}

static bool leaves_tree(const char *name)
{
	if (!strcmp(name, "/dev/null"))
		return false;
	if (*name == '/')
		return true;
	while (*name) {
		size_t len = strcspn(name, "/");

		if (len == 2 && !strncmp(name, "..", 2))
			return true;
		name += len + (name[len] == '/');
	}
	return false;
}

/* Reads the name that a text begins with, up to one of the characters of ends. */
static int add_name(const char *text, const char *ends, struct strmap *names, struct uspl_err *err)
{
	auto_buf struct buf name = { 0 };

	if (*text == '"')
		unquote(text, &name);
	else
		buf_add(&name, text, strcspn(text, ends));
	if (name.oom || !strmap_set(names, buf_str(&name), names))
		return uspl_fail_nomem(err);
	return 0;
}

/* Lines that name a file, with what comes before the name. */
static const char *const name_lines[] = {
	"--- ", "+++ ", "Index: ", "rename from ", "rename to ", "copy from ", "copy to ",
};

static int add_names(const char *line, struct strmap *names, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(name_lines); i++)
		if (text_starts_with(line, name_lines[i]))
			return add_name(line + strlen(name_lines[i]), "\t\r\n", names, err);
	if (text_starts_with(line, "diff --git ")) {
		const char *second = strstr(line + 11, " b/");
		const char *end = strchr(line, '\n');
		int rc = add_name(line + 11, " \n", names, err);

		if (rc || !second || (end && second > end))
			return rc;
		return add_name(second + 1, "\r\n", names, err);
	}
	return 0;
}

/* ---- hunks ---- */

/* One half of "@@ -A,B +C,D @@": ",B" may be missing and is 1 then. */
static const char *parse_range(const char *p, char sign, unsigned long *ret_lines)
{
	char *end;

	if (*p++ != sign || *p < '0' || *p > '9')
		return NULL;
	strtoul(p, &end, 10);
	*ret_lines = 1;
	if (*end == ',')
		*ret_lines = strtoul(end + 1, &end, 10);
	return *end == ' ' ? end + 1 : NULL;
}

static bool parse_hunk(const char *line, struct diff_hunk *ret)
{
	if (!text_starts_with(line, "@@ "))
		return false;
	line = parse_range(line + 3, '-', &ret->before);
	return line && parse_range(line, '+', &ret->after);
}

static void take_hunk_line(const char *line, struct diff_hunk *hunk)
{
	if (*line != '+' && *line != '\\' && hunk->before)
		hunk->before--;
	if (*line != '-' && *line != '\\' && hunk->after)
		hunk->after--;
}

bool diff_in_hunk(struct diff_hunk *hunk, const char *line)
{
	if (!hunk->before && !hunk->after) {
		parse_hunk(line, hunk);
		return false;
	}
	take_hunk_line(line, hunk);
	return true;
}

/* Lines between hunks that change a file without one. */
static const char *const changes[] = {
	"rename from ", "copy from ", "new file mode ", "deleted file mode ", "old mode ",
};

/* What a diff says of a file that isn't text, and that it holds in no form that is of use. */
bool diff_is_binary(const char *line)
{
	const char *end = strchrnul(line, '\n');

	if (end > line && end[-1] == '\r')
		end--;
	return text_starts_with(line, "GIT binary patch") ||
	       (text_starts_with(line, "Binary files ") && end - line > 7 &&
		!strncmp(end - 7, " differ", 7));
}

/* What is found in a diff. */
struct contents {
	struct strmap names;
	const char *binary; /* the line before the first that says so; NULL: none does */
	bool change;
};

static int read_contents(const char *text, struct contents *ret, struct uspl_err *err)
{
	struct diff_hunk hunk = { 0, 0 };
	const char *git = NULL;
	int rc = 0;

	while (*text) {
		if (hunk.before || hunk.after) {
			take_hunk_line(text, &hunk);
		} else if (parse_hunk(text, &hunk)) {
			ret->change = true;
		} else {
			rc = add_names(text, &ret->names, err);
			ret->change |= TEXT_STARTS_WITH_ONE_OF(text, changes);
			if (text_starts_with(text, "diff --git "))
				git = text;
			if (!ret->binary && diff_is_binary(text))
				ret->binary = git ? git : text;
		}
		text = text_next_line(text);
		if (rc)
			return rc;
	}
	return 0;
}

int diff_names(const char *text, struct strmap *names, struct uspl_err *err)
{
	struct contents contents = { .names = *names };
	int rc = read_contents(text, &contents, err);

	*names = contents.names;
	return rc;
}

static int check(const char *patch, const struct contents *contents, bool final,
		 struct uspl_err *err)
{
	const struct strmap *names = &contents->names;

	for (size_t i = 0; i < names->cap; i++)
		if (names->slots[i].key && leaves_tree(names->slots[i].key))
			return uspl_fail(err, USPL_E_HOSTILE,
					 "'%s' changes '%s', which is not in the tree", patch,
					 names->slots[i].key);
	if (final && contents->binary) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' changes a file that isn't text: '%.*s'",
			  patch, (int)strcspn(contents->binary, "\r\n"), contents->binary);
		uspl_hint(err, "if the program doesn't need it, take these lines out of the diff");
		return -USPL_E_UNSUPPORTED;
	}
	if (!contents->change && !(contents->binary && !final)) {
		uspl_fail(err, USPL_E_FILE, "'%s' holds no diff", patch);
		uspl_hint(err, "it must be a unified diff, as 'diff -u' and 'git diff' write it");
		return -USPL_E_FILE;
	}
	return 0;
}

int diff_read(const char *path, struct buf *buf, struct uspl_err *err)
{
	bool stdin_wanted = !strcmp(path, "-");
	const char *name = stdin_wanted ? "standard input" : path;
	struct contents contents = { 0 };
	auto_buf struct buf raw = { 0 };
	size_t start = buf->len;
	int rc = stdin_wanted ? file_read_fd(STDIN_FILENO, name, &raw, err)
			      : file_read(path, &raw, err);

	if (rc)
		return rc;
	rc = mail_decode(buf_str(&raw), raw.len, buf, err);
	if (rc)
		return rc;
	if (memchr(buf_str(buf) + start, '\0', buf->len - start))
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a text file", name);
	rc = read_contents(buf_str(buf) + start, &contents, err);
	if (!rc)
		rc = check(name, &contents, false, err);
	strmap_release(&contents.names);
	if (rc)
		return rc;
	if (buf->data[buf->len - 1] != '\n')
		buf_addstr(buf, "\n");
	return buf->oom ? uspl_fail_nomem(err) : 0;
}

int diff_check(const char *name, const char *text, struct uspl_err *err)
{
	struct contents contents = { 0 };
	int rc = read_contents(text, &contents, err);

	if (!rc)
		rc = check(name, &contents, true, err);
	strmap_release(&contents.names);
	return rc;
}
