// SPDX-License-Identifier: GPL-3.0-or-later
// patched_lines.c - the source lines that a diff changes, and which code is theirs

#include "create/unit/patched_lines.h"

#include <ctype.h>
#include <string.h>

#include "base/strvec.h"
#include "base/text.h"
#include "create/patch/diff_read.h"
#include "create/patch/sections.h"
#include "create/tree/lines.h"

/* A line that a diff adds or takes away. */
struct patched_line {
	const char *file; /* owned by the list of files */
	const char *text; /* in the diff */
	char sign;
	unsigned long number; /* in the file that it is in: before the diff, or after it */
	size_t run;           /* lines of one number are changed together */
};

struct patched_lines {
	char *diff;
	strvec files;
	VEC(struct patched_line) lines;
};

/* ---- reading ---- */

/* Where a section's lines are counted from. */
struct counter {
	unsigned long old, new;
	size_t run;
	bool in_run;
};

static int take_line(struct patched_lines *lines, const char *file, const char *text,
		     struct counter *counter, struct uspl_err *err)
{
	struct patched_line *line;
	char sign = *text;

	if (sign == '\\')
		return 0;
	if (sign != '-' && sign != '+') {
		counter->old++;
		counter->new ++;
		counter->in_run = false;
		return 0;
	}
	counter->run += !counter->in_run;
	counter->in_run = true;
	line = vec_push(&lines->lines);
	if (!line)
		return uspl_fail_nomem(err);
	*line = (struct patched_line){ file, text + 1, sign,
				       sign == '-' ? counter->old++ : counter->new ++,
				       counter->run };
	return 0;
}

static int read_section(struct patched_lines *lines, const struct section *section,
			const char *file, struct counter *counter, struct uspl_err *err)
{
	struct diff_hunk hunk = { 0, 0 };

	for (const char *line = section->start; line < section->end; line = text_next_line(line)) {
		int rc = 0;

		if (diff_in_hunk(&hunk, line))
			rc = take_line(lines, file, line, counter, err);
		else if (hunk.before || hunk.after) {
			const char *plus = strchr(line, '+');

			counter->old = strtoul(line + strlen("@@ -"), NULL, 10);
			counter->new = plus ? strtoul(plus + 1, NULL, 10) : 0;
			counter->in_run = false;
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int read_sections(struct patched_lines *lines, const section_list *sections,
			 struct uspl_err *err)
{
	const struct section *section, *other;
	struct counter counter = { 0 };

	vec_for_each (sections, section) {
		char *file = section_name(section);
		int rc, times = 0;

		if (!strvec_take(&lines->files, file))
			return uspl_fail_nomem(err);
		vec_for_each (sections, other) {
			auto_free char *name = section_name(other);

			times += name && !strcmp(name, file);
		}
		counter.in_run = false;
		rc = times > 1 ? 0 : read_section(lines, section, file, &counter, err);
		if (rc)
			return rc;
	}
	return 0;
}

int patched_lines_read(const char *diff, struct patched_lines **ret, struct uspl_err *err)
{
	struct patched_lines *lines = calloc(1, sizeof(*lines));
	section_list sections = { 0 };
	int rc;

	if (!lines || !(lines->diff = strdup(diff))) {
		patched_lines_free(lines);
		return uspl_fail_nomem(err);
	}
	rc = sections_split(lines->diff, &sections, err);
	if (!rc)
		rc = read_sections(lines, &sections, err);
	vec_release(&sections);
	if (rc) {
		patched_lines_free(lines);
		return rc;
	}
	*ret = lines;
	return 0;
}

void patched_lines_free(struct patched_lines *lines)
{
	if (!lines)
		return;
	strvec_release(&lines->files);
	vec_release(&lines->lines);
	free(lines->diff);
	free(lines);
}

/* ---- looking up ---- */

/* One may have folders in front that the other one lacks. */
static bool same_file(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len < b_len)
		return same_file(b, a);
	return b_len && !strcmp(a + a_len - b_len, b) &&
	       (a_len == b_len || a[a_len - b_len - 1] == '/');
}

/* without: the first folder of the diff's names doesn't count ("x.orig/src/proto.c"). */
static const struct patched_line *find_in(const struct patched_lines *lines, const char *file,
					  int number, bool without)
{
	bool own = number >= LINES_OWN;
	const struct patched_line *line;

	vec_for_each (&lines->lines, line) {
		const char *inner = without ? strchr(line->file, '/') : NULL;

		if (line->sign == (own ? '+' : '-') &&
		    line->number == (unsigned long)(own ? number % LINES_OWN : number) &&
		    same_file(inner ? inner + 1 : line->file, file))
			return line;
	}
	return NULL;
}

static const struct patched_line *find_line(const struct patched_lines *lines, const char *file,
					    int number)
{
	const struct patched_line *line = find_in(lines, file, number, false);

	return line ? line : find_in(lines, file, number, true);
}

bool patched_lines_changed(const struct patched_lines *lines, const char *file, int line)
{
	return lines && file && line < LINES_OWN && find_line(lines, file, line);
}

bool patched_lines_together(const struct patched_lines *lines, const char *old_file, int old_line,
			    const char *new_file, int new_line)
{
	const struct patched_line *old, *new;

	if (!lines || new_line < LINES_OWN)
		return false;
	old = find_line(lines, old_file, old_line);
	new = find_line(lines, new_file, new_line);
	return old && new && old->run == new->run;
}

/* What patched_lines_find looks for. */
struct search {
	const struct patched_lines *lines;
	struct dbginfo *dbg;
	const struct objsec *sec;
	const char *inlined;
	struct patched_code *ret;
	bool found;
};

static bool look_at_line(uint64_t offset, const char *file, int number, void *arg)
{
	struct search *search = arg;
	const struct patched_line *line = find_line(search->lines, file, number);
	const char *from;

	if (!line)
		return true;
	from = search->inlined ? dbginfo_inlined_from(search->dbg, search->sec, offset) : NULL;
	if (search->inlined && (!from || strcmp(from, search->inlined) != 0))
		return true;
	search->ret->offset = offset;
	search->ret->line = (size_t)(line - search->lines->lines.items);
	search->found = true;
	return false;
}

bool patched_lines_find(const struct patched_lines *lines, struct dbginfo *dbg,
			const struct objsec *sec, const char *inlined, struct patched_code *ret)
{
	struct search search = { lines, dbg, sec, inlined, ret, false };

	if (lines && lines->lines.n && dbg)
		dbginfo_each_line(dbg, sec, look_at_line, &search);
	return search.found;
}

/* ---- showing ---- */

static bool same_words(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a != '\n' && isspace((unsigned char)*a))
			a++;
		while (*b != '\n' && isspace((unsigned char)*b))
			b++;
		if (*a != *b)
			return false;
		if (*a == '\n' || !*a)
			return true;
	}
}

/* The n-th line of a run with that sign; NULL if there are fewer. */
static const struct patched_line *nth(const struct patched_lines *lines, size_t run, char sign,
				      size_t n)
{
	const struct patched_line *line;

	vec_for_each (&lines->lines, line)
		if (line->run == run && line->sign == sign && !n--)
			return line;
	return NULL;
}

static void show_line(const struct patched_line *line, struct buf *ret)
{
	const char *text = line->text + strspn(line->text, " \t");

	buf_addf(ret, "        %c ", line->sign);
	text_add_printable(ret, text, strcspn(text, "\r\n"), false);
	buf_addstr(ret, "\n");
}

void patched_lines_show(const struct patched_lines *lines, size_t index, struct buf *ret)
{
	const struct patched_line *line = &lines->lines.items[index];
	const struct patched_line *old = NULL, *new = NULL;
	size_t n = 0;

	do {
		old = nth(lines, line->run, '-', n);
		new = nth(lines, line->run, '+', n);
		n++;
	} while (old && new &&same_words(old->text, new->text));
	buf_addf(ret, "      changed source at %s:%lu:\n", line->file,
		 new ? new->number : line->number);
	if (old)
		show_line(old, ret);
	if (new)
		show_line(new, ret);
}
