// SPDX-License-Identifier: GPL-3.0-or-later
// lines_reflow.c - lines that are only written differently
//
// A tool that formats a source indents lines anew, and breaks them at other places. To the compiler
// nothing has changed, but the numbers of its lines: with them go __LINE__ and all functions that
// have it. So where old lines were replaced by others, two more looks are taken:
//
// 1. Lines that differ in blanks alone are the same lines.
// 2. Where that leaves as many lines on both sides, these take each other's place as they do
//    otherwise. Else the words of both are paired. A new line that has no word of its own gets the
//    number of the old line that its first macro comes from, by the looks of it, for that may use
//    the number; or, without one, its first word. But only if no line before it has that already: a
//    number is there once, since it may be a state to code that says `case __LINE__`.

#include "base/text.h"
#include "create/tree/lines.h"

#include <ctype.h>
#include <string.h>

/* The lines from `first` to before `end` in both texts, of which none is paired. */
struct gap {
	size_t pre_first, pre_end, post_first, post_end;
};

typedef int (*gap_visit)(const line_list *pre, line_list *post, const struct gap *gap,
			 struct uspl_err *err);

static int for_each_gap(const line_list *pre, line_list *post, gap_visit visit,
			struct uspl_err *err)
{
	for (size_t i = 0; i < post->n; i++) {
		struct gap gap = { i ? post->items[i - 1].old : 0, pre->n, i, i };
		int rc;

		while (gap.post_end < post->n && !post->items[gap.post_end].old)
			gap.post_end++;
		if (gap.post_end < post->n)
			gap.pre_end = post->items[gap.post_end].old - 1;
		i = gap.post_end;
		if (gap.post_first == gap.post_end || gap.pre_first >= gap.pre_end)
			continue;
		rc = visit(pre, post, &gap, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int make_dense(const line_list *lines, size_t first, size_t end, struct buf *text,
		      line_list *ret, struct uspl_err *err)
{
	size_t room = 1;

	for (size_t i = first; i < end; i++)
		room += lines->items[i].len;
	text->data = malloc(room);
	if (!text->data)
		return uspl_fail_nomem(err);
	text->cap = room;
	for (size_t i = first; i < end; i++) {
		const struct line *line = &lines->items[i];
		struct line *dense = vec_push(ret);

		if (!dense)
			return uspl_fail_nomem(err);
		dense->text = text->data + text->len;
		for (size_t at = 0; at < line->len; at++)
			if (!isspace((unsigned char)line->text[at]))
				text->data[text->len++] = line->text[at];
		dense->len = (size_t)(text->data + text->len - dense->text);
	}
	return 0;
}

static int pair_dense(const line_list *pre, line_list *post, const struct gap *gap,
		      struct uspl_err *err)
{
	auto_buf struct buf old_text = { 0 }, new_text = { 0 };
	auto_lines line_list before = { 0 };
	auto_lines line_list after = { 0 };
	int rc = make_dense(pre, gap->pre_first, gap->pre_end, &old_text, &before, err);

	if (rc)
		return rc;
	rc = make_dense(post, gap->post_first, gap->post_end, &new_text, &after, err);
	if (rc)
		return rc;
	rc = lines_pair_shortest(&before, &after, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < after.n; i++)
		if (after.items[i].old)
			post->items[gap->post_first + i].old = gap->pre_first + after.items[i].old;
	return 0;
}

/* A name with a capital letter, and a parenthesis. */
static bool is_macro_use(const line_list *words, size_t i)
{
	const struct line *word = &words->items[i], *next = word + 1;
	bool capital = false;

	for (size_t at = 0; at < word->len; at++)
		capital |= isupper((unsigned char)word->text[at]) != 0;
	return capital && i + 1 < words->n && next->number == word->number && *next->text == '(';
}

static int split_words(const line_list *lines, size_t first, size_t end, line_list *ret,
		       struct uspl_err *err)
{
	for (size_t i = first; i < end; i++) {
		const char *p = lines->items[i].text, *stop = p + lines->items[i].len;

		while (p < stop) {
			size_t len = 0;
			struct line *word;

			while (p + len < stop && text_in_word(p[len]))
				len++;
			len = len ? len : 1;
			if (!isspace((unsigned char)*p)) {
				word = vec_push(ret);
				if (!word)
					return uspl_fail_nomem(err);
				word->text = p;
				word->len = len;
				word->number = i;
			}
			p += len;
		}
	}
	return 0;
}

static int pair_words(const line_list *pre, line_list *post, const struct gap *gap,
		      struct uspl_err *err)
{
	auto_lines line_list before = { 0 };
	auto_lines line_list after = { 0 };
	size_t taken = gap->pre_first; /* the old lines before this one, counted from 0 */
	int rc = 0;

	if (gap->pre_end - gap->pre_first == gap->post_end - gap->post_first)
		return 0;
	rc = split_words(pre, gap->pre_first, gap->pre_end, &before, err);
	if (rc)
		return rc;
	rc = split_words(post, gap->post_first, gap->post_end, &after, err);
	if (rc)
		return rc;
	rc = lines_pair_shortest(&before, &after, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < after.n;) {
		size_t line = after.items[i].number, first = i, from;
		bool known = true, found = false;

		for (; i < after.n && after.items[i].number == line; i++) {
			known &= after.items[i].old != 0;
			if (found || !is_macro_use(&after, i))
				continue;
			first = i;
			found = true;
		}
		if (!known)
			continue;
		from = before.items[after.items[first].old - 1].number;
		if (from < taken)
			continue;
		post->items[line].reflowed = from + 1;
		taken = from + 1;
	}
	return 0;
}

int lines_reflow(const line_list *pre, line_list *post, struct uspl_err *err)
{
	int rc = for_each_gap(pre, post, pair_dense, err);

	if (rc)
		return rc;
	return for_each_gap(pre, post, pair_words, err);
}
