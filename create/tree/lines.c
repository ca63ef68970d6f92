// SPDX-License-Identifier: GPL-3.0-or-later
// lines.c - unchanged lines keep their numbers
//
// A directive goes before the first line of each stretch whose number is off, or, where none may
// stand there, before the next line where one may. Directives in a branch that the compiler skips
// have no effect, so after the end of each branch there is another one.
//
// Lines without a number of their own (blank, or in a comment) need no directive.

#include "create/tree/lines.h"

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

size_t lines_directive(const struct line *line)
{
	static const char start[] = "#line ";

	if (line->len <= sizeof(start) || memcmp(line->text, start, sizeof(start) - 1))
		return 0;
	return strtoul(line->text + sizeof(start) - 1, NULL, 10);
}

/* Numbers the lines of the old text as the compiler did, and takes our directives out. */
static void count_lines(line_list *lines, bool numbered)
{
	size_t number = 1, n = 0;

	for (size_t i = 0; i < lines->n; i++) {
		size_t set = numbered ? lines_directive(&lines->items[i]) : 0;

		if (set) {
			number = set;
			continue;
		}
		lines->items[n] = lines->items[i];
		lines->items[n++].number = number++;
	}
	lines->n = n;
}

static void number_lines(line_list *pre, line_list *post)
{
	const struct line *line;
	size_t highest = 0, base;

	vec_for_each (pre, line)
		highest = line->number > highest ? line->number : highest;
	base = (highest / LINES_OWN + 1) * LINES_OWN;
	for (size_t i = 0; i < post->n;) {
		size_t end = i, before, behind;

		if (post->items[i].old) {
			struct line *old = &pre->items[post->items[i].old - 1];

			post->items[i++].number = old->number;
			old->stays = true;
			continue;
		}
		while (end < post->n && !post->items[end].old)
			end++;
		/*
		 * New lines get the numbers of the old ones that they replace, if these are as
		 * many, or have their words; else numbers of their own, behind base.
		 */
		before = i ? post->items[i - 1].old : 0;
		behind = end < post->n ? post->items[end].old - 1 : pre->n;
		if (behind - before == end - i) {
			for (; i < end; i++) {
				pre->items[before].stays = true;
				post->items[i].number = pre->items[before++].number;
			}
		} else {
			for (; i < end; i++) {
				size_t from = post->items[i].reflowed;

				post->items[i].number =
					from ? pre->items[from - 1].number : base + i + 1;
				if (from)
					pre->items[from - 1].stays = true;
			}
		}
	}
}

/* Returns the first unchanged line, from 1, that has another number than before; 0: none. */
static size_t write_lines(const line_list *lines, struct buf *ret)
{
	const struct line *line;
	bool any = false, sure = true;
	size_t number = 1, lost = 0; /* number: as the compiler counts */

	vec_for_each (lines, line) {
		if (line->safe && (number != line->number || !sure)) {
			buf_addf(ret, "#line %zu\n", line->number);
			number = line->number;
			any = sure = true;
		}
		if (line->old && line->code && number != line->number && !lost)
			lost = (size_t)(line - lines->items) + 1;
		buf_add(ret, line->text, line->len);
		number++;
		if (line->ends_group && any)
			sure = false;
	}
	return lost;
}

void lines_kept_release(struct lines_kept *kept)
{
	buf_release(&kept->gone);
	*kept = (struct lines_kept){ 0 };
}

int lines_renumber(const struct buf *pre, bool numbered, const struct buf *post, struct buf *ret,
		   struct lines_kept *ret_kept, struct uspl_err *err)
{
	auto_lines line_list old = { 0 };
	auto_lines line_list new = { 0 };
	struct lines_kept kept = { 0 };
	const struct line *line;
	int rc = lines_split(buf_str(pre), pre->len, &old, err);

	*ret_kept = kept;
	if (rc)
		return rc;
	rc = lines_split(buf_str(post), post->len, &new, err);
	if (rc)
		return rc;
	count_lines(&old, numbered);
	rc = lines_pair(&old, &new, err);
	if (rc)
		return rc;
	rc = lines_reflow(&old, &new, err);
	if (rc)
		return rc;
	number_lines(&old, &new);
	kept.foreign = !lines_scan(&old);
	kept.foreign |= !lines_scan(&new);
	/* The first unchanged line with another number than before, if all is left as it is. */
	vec_for_each (&new, line)
		if (!kept.moved && line->old && line->code &&
		    line->old != (size_t)(line - new.items) + 1)
			kept.moved = (size_t)(line - new.items) + 1;
	kept.lost = kept.moved;
	if (kept.foreign)
		buf_add(ret, buf_str(post), post->len);
	else
		kept.lost = write_lines(&new, ret);
	vec_for_each (&old, line)
		if (line->code && !line->stays)
			buf_add(&kept.gone, line->text, line->len);
	*ret_kept = kept;
	return ret->oom || kept.gone.oom ? uspl_fail_nomem(err) : 0;
}
