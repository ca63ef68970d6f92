/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tui_tree.h - the calls of a trace as a tree, which can be folded
 *
 * Calls of one function by the same chain of callers are one branch, in all threads or in one.
 */
#ifndef USPL_TRACE_TOP_TUI_TREE_H
#define USPL_TRACE_TOP_TUI_TREE_H

#include "trace/log/timeline.h"
#include "trace/output/calltree.h"

/* A branch. Times in ticks. */
struct tui_branch {
	uint64_t calls, open, total, self;
	uint32_t child,
		next; /* + 1: the first of its branches, the next of its parent's; 0: none */
	uint32_t depth;
	bool unfolded;
};

/* Zero-initialise it. */
struct tui_tree {
	struct calltree tree;
	struct symbol *symbols;      /* by id */
	struct tui_branch *branches; /* by node; the largest of a parent's comes first */
	uint32_t first;              /* + 1: the first one without a parent */
	VEC(uint32_t) shown;         /* nodes, as lines from above */
};

/* Makes it of the calls of a thread (0: all), folded but for the outermost branches. */
int tui_tree_make(struct tui_tree *tree, const struct timeline *timeline, pid_t tid,
		  struct uspl_err *err) uspl_must_check;
void tui_tree_release(struct tui_tree *tree);
/* Which function a line is of. */
uint32_t tui_tree_id(const struct tui_tree *tree, size_t line);
const struct tui_branch *tui_tree_branch(const struct tui_tree *tree, size_t line);
/* The line of the branch that this one's branch belongs to; the line itself if there is none. */
size_t tui_tree_parent(const struct tui_tree *tree, size_t line);
/* Folds a line's branch or unfolds it; all: with everything below. USPL_E_NOMEM. */
int tui_tree_fold(struct tui_tree *tree, size_t line, bool unfold, bool all,
		  struct uspl_err *err) uspl_must_check;

#endif
