// SPDX-License-Identifier: GPL-3.0-or-later
// page_diff.c - two columns of lines on a page: what was, and what is

#include "view/page_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/html.h"

/* A number and a line on each side. */
#define COLUMNS "<col class=\"number\"><col><col class=\"number\"><col>\n"
/* Pairs that are looked at for the best ones; larger functions stand side by side as they are. */
#define PAIRS_MAX (16u << 20)

void page_lines_release(page_lines *lines)
{
	struct page_line *line;

	vec_for_each (lines, line)
		free(line->text);
	vec_release(lines);
}

/* Equal, but for numbers of four digits and more, which are addresses or distances. */
static bool is_same(const char *x, const char *y)
{
	while (*x && *y) {
		size_t nx = strspn(x, "0123456789abcdef"), ny = strspn(y, "0123456789abcdef");

		if (nx >= 4 && ny >= 4) {
			x += nx;
			y += ny;
			continue;
		}
		if (*x++ != *y++)
			return false;
	}
	return *x == *y;
}

static void add_side(const struct page_line *line, const char *class, bool hex, struct buf *out)
{
	if (!line) {
		buf_addstr(out, "<td><td>");
		return;
	}
	buf_addf(out, hex ? "<td>+0x%" PRIx64 "<td" : "<td>%" PRIu64 "<td", line->number);
	if (class)
		buf_addf(out, " class=\"%s\"", class);
	buf_addstr(out, ">");
	html_add_printable(out, line->text, true);
}

static void add_row(const struct page_line *was, const struct page_line *is, bool same, bool hex,
		    struct buf *out)
{
	buf_addstr(out, "<tr>");
	add_side(was, same ? NULL : "was", hex, out);
	add_side(is, same ? NULL : "is", hex, out);
	buf_addstr(out, "</tr>\n");
}

/* Lines that differ, beside each other. */
static void add_rest(const page_lines *was, size_t i, size_t i_end, const page_lines *is, size_t k,
		     size_t k_end, bool hex, struct buf *out)
{
	for (; i < i_end || k < k_end; i++, k++)
		add_row(i < i_end ? &was->items[i] : NULL, k < k_end ? &is->items[k] : NULL, false,
			hex, out);
}

int page_diff_add(const page_lines *was, const page_lines *is, struct buf *out,
		  struct uspl_err *err)
{
	size_t n = was->n, m = is->n, row = m + 1, i = 0, k = 0, i_from = 0, k_from = 0;
	bool paired = n < PAIRS_MAX / row;
	/* How many of the lines from i and k on can be paired. */
	auto_free uint16_t *best = calloc(paired ? (n + 1) * row : 1, sizeof(*best));

	if (!best)
		return uspl_fail_nomem(err);
	for (i = n; paired && i-- > 0;)
		for (k = m; k-- > 0;) {
			uint16_t down = best[(i + 1) * row + k], right = best[i * row + k + 1];

			best[i * row + k] = is_same(was->items[i].text, is->items[k].text)
						    ? (uint16_t)(best[(i + 1) * row + k + 1] + 1)
					    : down > right ? down
							   : right;
		}
	buf_addstr(out, "<table class=\"code\">\n" COLUMNS);
	for (i = k = 0; paired && i < n && k < m;) {
		if (is_same(was->items[i].text, is->items[k].text)) {
			add_rest(was, i_from, i, is, k_from, k, true, out);
			add_row(&was->items[i++], &is->items[k++], true, true, out);
			i_from = i;
			k_from = k;
		} else if (best[(i + 1) * row + k] >= best[i * row + k + 1]) {
			i++;
		} else {
			k++;
		}
	}
	add_rest(was, i_from, n, is, k_from, m, true, out);
	buf_addstr(out, "</table>\n");
	return 0;
}

/* A hunk on its way. */
struct hunk {
	page_lines was, is;      /* that differ, and haven't been written yet */
	uint64_t old, new;       /* lines that are left of it, */
	uint64_t old_at, new_at; /* and which ones they are */
};

static int hold(page_lines *lines, uint64_t number, const char *text, struct uspl_err *err)
{
	struct page_line *line = vec_push(lines);

	if (!line)
		return uspl_fail_nomem(err);
	line->number = number;
	line->text = strdup(text);
	return line->text ? 0 : uspl_fail_nomem(err);
}

static void write_held(struct hunk *hunk, struct buf *out)
{
	add_rest(&hunk->was, 0, hunk->was.n, &hunk->is, 0, hunk->is.n, false, out);
	page_lines_release(&hunk->was);
	page_lines_release(&hunk->is);
}

/* A line within a hunk. */
static int take_line(struct hunk *hunk, char *line, struct buf *out, struct uspl_err *err)
{
	char sign = *line ? *line : ' ', *text = *line ? line + 1 : line;

	if (sign == '\\') /* no newline at the end of the file */
		return 0;
	if (sign == '-' && hunk->old) {
		hunk->old--;
		return hold(&hunk->was, hunk->old_at++, text, err);
	}
	if (sign == '+' && hunk->new) {
		hunk->new --;
		return hold(&hunk->is, hunk->new_at++, text, err);
	}
	write_held(hunk, out);
	add_row(&(struct page_line){ hunk->old_at++, text },
		&(struct page_line){ hunk->new_at++, text }, true, false, out);
	hunk->old -= hunk->old > 0;
	hunk->new -= hunk->new > 0;
	return 0;
}

/* "@@ -1,5 +1,6 @@", where ",1" may be left out. */
static bool begin_hunk(const char *line, struct hunk *hunk)
{
	char *at;

	if (strncmp(line, "@@ -", 4) != 0)
		return false;
	hunk->old = hunk->new = 1;
	hunk->old_at = strtoull(line + 4, &at, 10);
	if (*at == ',')
		hunk->old = strtoull(at + 1, &at, 10);
	if (strncmp(at, " +", 2) != 0)
		return false;
	hunk->new_at = strtoull(at + 2, &at, 10);
	if (*at == ',')
		hunk->new = strtoull(at + 1, &at, 10);
	return !strncmp(at, " @@", 3);
}

int page_diff_add_patch(const char *patch, size_t len, struct buf *out, struct uspl_err *err)
{
	struct hunk hunk = { 0 };
	const char *end = patch + len;
	int rc = 0;

	buf_addstr(out, "<table class=\"code\" id=\"patch\">\n" COLUMNS);
	for (const char *at = patch, *next; !rc && at < end; at = next) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		auto_free char *line = strndup(at, (size_t)((stop ? stop : end) - at));

		next = stop ? stop + 1 : end;
		if (!line) {
			rc = uspl_fail_nomem(err);
		} else if (hunk.old || hunk.new || *line == '\\') {
			rc = take_line(&hunk, line, out, err);
		} else {
			write_held(&hunk, out);
			if (!begin_hunk(line, &hunk))
				hunk.old = hunk.new = 0;
			buf_addstr(out,
				   "<tr><td class=\"place\"><td class=\"place\" colspan=\"3\">");
			html_add_printable(out, line, false);
			buf_addstr(out, "</tr>\n");
		}
	}
	write_held(&hunk, out);
	buf_addstr(out, "</table>\n");
	return rc;
}
