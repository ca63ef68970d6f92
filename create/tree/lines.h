/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lines.h - unchanged lines keep their numbers
 *
 * Two added lines shift everything below them, and with it each __LINE__ of each assert(): to the
 * differ, all those functions would have changed. So `#line N` goes into the patched source where
 * the numbers of unchanged lines would differ from what they were.
 *
 * Added lines get numbers of their own, 1000012 for line 12 of the new text: a number is a state to
 * code that says `case __LINE__`, and a place by which variables and lambdas are paired. The next
 * patch of a series takes 2000000 and so on. Lines that replace as many old ones take over their
 * numbers.
 *
 *     lines_pair       which lines of the new text are lines of the old one
 *     lines_reflow     which ones are only written differently
 *     lines_scan       before which lines a directive may stand
 *     lines_renumber   from both to the text that is compiled
 */
#ifndef USPL_CREATE_TREE_LINES_H
#define USPL_CREATE_TREE_LINES_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

/* Numbers of added lines begin behind a multiple of this; the user is shown the remainder. */
enum { LINES_OWN = 1000000 };

/* A line of a source. Points into the text. */
struct line {
	const char *text;
	size_t len; /* with its line end */
	/* in the text after the patch: which line of the old text, from 1; 0: it is new */
	size_t old;
	/* The same of a line that is the old one's words, broken at other places; from 1, or 0. */
	size_t reflowed;
	size_t number; /* as the compiler is to count it; in the old text, as it has counted it */
	bool stays;    /* in the old text: a line of the new one has its number */
	bool safe;     /* `#line` may stand before it */
	/* what is on it may contain __LINE__: neither blank nor a comment nor a directive */
	bool code;
	/* #elif, #else, #endif: what stood before it may have been skipped by the compiler. */
	bool ends_group;
};

typedef VEC(struct line) line_list;
DEFINE_AUTO_RELEASE(lines, line_list, vec_release)
#define auto_lines __attribute__((cleanup(cleanup_lines_)))

/* Cuts a text into lines. */
int lines_split(const char *text, size_t len, line_list *ret, struct uspl_err *err) uspl_must_check;

/*
 * Sets `old` in the lines of post by a shortest edit script. Where the texts have too little in
 * common for one of reasonable size, lines are left as new.
 */
int lines_pair(const line_list *pre, line_list *post, struct uspl_err *err) uspl_must_check;

/* The shortest script alone; a block may begin anywhere among lines that are the same. */
int lines_pair_shortest(const line_list *pre, line_list *post,
			struct uspl_err *err) uspl_must_check;

/*
 * Sets `old` in lines that differ from the old ones in blanks alone, and `reflowed` in those whose
 * words stood in other lines. After lines_pair.
 */
int lines_reflow(const line_list *pre, line_list *post, struct uspl_err *err) uspl_must_check;

/*
 * Sets `safe`, `code` and `ends_group`. False if the text has #line directives of its own: it was
 * generated, and its numbers are another file's.
 */
bool lines_scan(line_list *lines);

/* The number in a directive that lines_renumber has written; 0: the line is another one. */
size_t lines_directive(const struct line *line);

/* What became of the numbers of a text's lines. */
struct lines_kept {
	size_t lost;     /* the first unchanged line, in the new text, that has another number; 0 */
	size_t moved;    /* the same, had nothing been done */
	bool foreign;    /* the text has #line directives of its own: nothing was done */
	struct buf gone; /* the old lines with code whose numbers no line has any more */
};

/* Frees what lines_renumber has filled in. */
void lines_kept_release(struct lines_kept *kept);
DEFINE_AUTO_RELEASE(lines_kept, struct lines_kept, lines_kept_release)
#define auto_lines_kept __attribute__((cleanup(cleanup_lines_kept_)))

/*
 * Appends the new text with directives such that its unchanged lines have their old numbers. It is
 * equal to the new text if no directive is needed, or none is possible. numbered: the old text has
 * such directives itself, which were put there when another patch was applied. The caller releases
 * ret_kept, which is zeroed before.
 */
int lines_renumber(const struct buf *pre, bool numbered, const struct buf *post, struct buf *ret,
		   struct lines_kept *ret_kept, struct uspl_err *err) uspl_must_check;

#endif
