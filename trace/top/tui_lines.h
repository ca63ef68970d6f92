/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tui_lines.h - what each view of a trace has as its lines
 *
 * A view is functions, or one function's callers and callees, or calls one by one, or threads, or
 * the tree of all calls. It is of all threads or of one.
 */
#ifndef USPL_TRACE_TOP_TUI_LINES_H
#define USPL_TRACE_TOP_TUI_LINES_H

#include "trace/log/totals.h"
#include "trace/top/top_row.h"
#include "trace/top/tui_tree.h"

struct reader;

enum tui_kind {
	TUI_FUNCTIONS,
	TUI_OF,    /* a function: who calls it, itself, what it calls */
	TUI_CALLS, /* each call of a function */
	TUI_MADE,  /* each call that a call has made */
	TUI_THREADS,
	TUI_TREE,
};

struct tui_view {
	enum tui_kind kind;
	uint32_t of;            /* TUI_OF, TUI_CALLS: the function; TUI_MADE: the call's index */
	pid_t tid;              /* 0: all threads */
	size_t selected, first; /* the cursor, while another view is shown */
};

/* What a line of TUI_OF is to the function. */
enum tui_relation { TUI_CALLER, TUI_ITSELF, TUI_CALLEE, TUI_RELATIONS };

struct tui_table {
	totals_vec totals; /* by id */
	top_row_vec rows;  /* the same, sorted; those that the filter lets through come first */
	size_t shown;
};

/* A thread, in ticks. */
struct tui_thread {
	pid_t tid;
	uint64_t calls, open, self, first, last;
};

/* Zero-initialise it. */
struct tui_lines {
	const struct reader *reader;
	struct tui_view view;
	struct tui_table tables[TUI_RELATIONS]; /* of TUI_FUNCTIONS the middle one */
	VEC(uint32_t) calls;                    /* indices in the timeline */
	VEC(struct tui_thread) threads;
	struct tui_tree tree;
};

/* What is shown of a trace that was read; the reader must outlive it. USPL_E_NOMEM. */
int tui_lines_make(struct tui_lines *lines, const struct reader *reader,
		   const struct tui_view *view, struct uspl_err *err) uspl_must_check;
void tui_lines_release(struct tui_lines *lines);
/* Puts them in order; the tree has its own. Only functions are filtered. */
void tui_lines_sort(struct tui_lines *lines, enum top_key key, const char *filter);
size_t tui_lines_count(const struct tui_lines *lines);
/* The function that a line is of; 0: of none. */
uint32_t tui_lines_id(const struct tui_lines *lines, size_t line);
/* What the line leads to. False: to nothing. */
bool tui_lines_next(const struct tui_lines *lines, size_t line, struct tui_view *ret);
/* What is shown, the heads of its columns, and a line, each without its end, and printable. */
void tui_lines_add_state(const struct tui_lines *lines, struct buf *out);
void tui_lines_add_head(const struct tui_lines *lines, struct buf *out);
void tui_lines_add(const struct tui_lines *lines, size_t line, struct buf *out);

#endif
