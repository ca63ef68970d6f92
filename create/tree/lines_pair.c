// SPDX-License-Identifier: GPL-3.0-or-later
// lines_pair.c - which lines of the new text are lines of the old one
//
// A shortest edit script after E. Myers, "An O(ND) Difference Algorithm" (1986). In a grid with the
// old lines along x and the new ones along y, a step to the right deletes a line, a step down
// inserts one, and a diagonal step, which is free, keeps one. For each number of edits d, and each
// diagonal k = x - y that d edits can reach, row d holds how far along x one gets; from row to row
// there is one more edit. When the corner is reached, the way back through the rows tells which
// diagonals were walked.
//
// Rows are kept for the way back, so memory is quadratic in the number of edits, not of lines. A
// patch that rewrites more than MAX_EDITS lines of a file needn't be matched line by line.

#include "create/tree/lines.h"

#include <string.h>

enum { MAX_EDITS = 2000 };

struct grid {
	const struct line *pre;
	struct line *post;
	size_t n_pre, n_post;
	size_t skipped;     /* lines of the old text before pre[0] */
	VEC(size_t *) rows; /* row d has d + 1 values, of the diagonals -d, -d + 2 ... d */
};

static void grid_release(struct grid *grid)
{
	size_t **row;

	vec_for_each (&grid->rows, row)
		free(*row);
	vec_release(&grid->rows);
}

DEFINE_AUTO_RELEASE(grid, struct grid, grid_release)
#define auto_grid __attribute__((cleanup(cleanup_grid_)))

static bool is_equal(const struct line *a, const struct line *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* y of a point at x on the i-th diagonal of row d. */
static size_t y_of(size_t x, size_t d, size_t i)
{
	return x + d - 2 * i;
}

/* True if row d comes to its i-th diagonal by an insertion, from the one above. */
static bool by_insertion(const size_t *before, size_t d, size_t i)
{
	return i == 0 || (i < d && before[i - 1] < before[i]);
}

/* Where row d begins on its i-th diagonal, before its free steps. */
static size_t start_of(const struct grid *grid, size_t d, size_t i)
{
	const size_t *before = d ? grid->rows.items[d - 1] : NULL;

	if (!d)
		return 0;
	return by_insertion(before, d, i) ? before[i] : before[i - 1] + 1;
}

/* Walks row d. True if it comes to the corner, on diagonal *ret_i. */
static bool walk_row(const struct grid *grid, size_t *row, size_t d, size_t *ret_i)
{
	for (size_t i = 0; i <= d; i++) {
		size_t x = start_of(grid, d, i), y = y_of(x, d, i);

		while (x < grid->n_pre && y < grid->n_post &&
		       is_equal(&grid->pre[x], &grid->post[y])) {
			x++;
			y++;
		}
		row[i] = x;
		if (x == grid->n_pre && y == grid->n_post) {
			*ret_i = i;
			return true;
		}
	}
	return false;
}

/* Goes back from the corner, and pairs the lines that the diagonals passed. */
static void walk_back(const struct grid *grid, size_t d, size_t i)
{
	for (;; d--) {
		size_t start = start_of(grid, d, i);

		for (size_t x = grid->rows.items[d][i]; x > start; x--)
			grid->post[y_of(x, d, i) - 1].old = grid->skipped + x;
		if (!d)
			return;
		if (!by_insertion(grid->rows.items[d - 1], d, i))
			i--;
	}
}

int lines_pair_shortest(const line_list *pre, line_list *post, struct uspl_err *err)
{
	size_t head = 0, tail = 0, least = pre->n < post->n ? pre->n : post->n;
	auto_grid struct grid grid = { 0 };

	for (; head < least && is_equal(&pre->items[head], &post->items[head]); head++)
		post->items[head].old = head + 1;
	for (; tail < least - head &&
	       is_equal(&pre->items[pre->n - tail - 1], &post->items[post->n - tail - 1]);
	     tail++)
		post->items[post->n - tail - 1].old = pre->n - tail;
	if (head + tail == pre->n || head + tail == post->n)
		return 0;
	grid.pre = pre->items + head;
	grid.post = post->items + head;
	grid.n_pre = pre->n - head - tail;
	grid.n_post = post->n - head - tail;
	grid.skipped = head;
	/* The shortest script for the lines between, with one more edit in each round. */
	for (size_t d = 0; d <= MAX_EDITS; d++) {
		size_t **slot = vec_push(&grid.rows);
		size_t i;

		if (!slot || !(*slot = calloc(d + 1, sizeof(**slot))))
			return uspl_fail_nomem(err);
		if (walk_row(&grid, *slot, d, &i)) {
			walk_back(&grid, d, i);
			return 0;
		}
	}
	return 0;
}

/*
 * How badly a block would begin at a line: the less it is indented the better, and it should not
 * close another block.
 */
static size_t badness(const line_list *lines, size_t at, size_t end)
{
	size_t indent = 0, blank = 0, i = 0;
	const struct line *line;

	while (at + 1 < end && lines->items[at].len <= 1) {
		at++;
		blank = 1;
	}
	line = &lines->items[at];
	for (; i < line->len && (line->text[i] == ' ' || line->text[i] == '\t'); i++)
		indent += line->text[i] == '\t' ? 8 : 1;
	return 4 * indent + 2 * (i < line->len && strchr("})]", line->text[i]) != NULL) + blank;
}

/*
 * How far up a block [first, end) that is only in one text is best moved. It may be moved by one if
 * the line before it is the same as its last one: which of the two is the new one can't be told.
 */
static size_t best_move(const line_list *lines, size_t first, size_t end, size_t most)
{
	size_t best = 0, least = badness(lines, first, end);

	for (size_t up = 1; up <= most && up <= first; up++) {
		size_t now;

		if (!is_equal(&lines->items[first - up], &lines->items[end - up]))
			break;
		now = badness(lines, first - up, end - up);
		if (now < least) {
			least = now;
			best = up;
		}
	}
	return best;
}

/* How many lines before `at` are paired with lines that follow each other in both texts. */
static size_t kept_before(const line_list *post, size_t at)
{
	size_t n = 0;

	while (n < at && post->items[at - n - 1].old &&
	       (!n || post->items[at - n - 1].old + 1 == post->items[at - n].old))
		n++;
	return n;
}

/* Moves a block of new lines to where it begins as people begin blocks. */
static void move_added(line_list *post, size_t first, size_t end)
{
	size_t up = best_move(post, first, end, kept_before(post, first));

	for (size_t i = 1; i <= up; i++) {
		post->items[end - i].old = post->items[first - i].old;
		post->items[first - i].old = 0;
	}
}

/* The same for removed lines, those of the old text before the one that `at` is paired with. */
static void move_removed(const line_list *pre, line_list *post, size_t at)
{
	size_t first = at ? post->items[at - 1].old : 0;
	size_t end = at < post->n ? post->items[at].old - 1 : pre->n;
	size_t up = best_move(pre, first, end, kept_before(post, at));

	for (size_t i = 1; i <= up; i++)
		post->items[at - i].old += end - first;
}

int lines_pair(const line_list *pre, line_list *post, struct uspl_err *err)
{
	size_t last = 0; /* the old line that was paired last */
	int rc = lines_pair_shortest(pre, post, err);

	if (rc)
		return rc;
	/* A shortest script may cut a block anywhere among lines that are the same as others. */
	for (size_t i = 0; i <= post->n; i++) {
		size_t end = i;

		while (end < post->n && !post->items[end].old)
			end++;
		if (end == i && (i < post->n ? post->items[i].old - 1 : pre->n) > last)
			move_removed(pre, post, i);
		else if (end > i && (end < post->n ? post->items[end].old - 1 : pre->n) == last)
			move_added(post, i, end);
		i = end;
		last = i < post->n ? post->items[i].old : pre->n;
	}
	return 0;
}
