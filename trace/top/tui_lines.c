// SPDX-License-Identifier: GPL-3.0-or-later
// tui_lines.c - what each view of a trace has as its lines

#include "trace/top/tui_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trace/output/reader.h"

#define INDENT_MAX 24 /* levels of the tree that are drawn */

static const struct timeline *timeline_of(const struct tui_lines *lines)
{
	return &lines->reader->timeline;
}

static double to_us(const struct tui_lines *lines, uint64_t ticks)
{
	return trace_us(&lines->reader->log, ticks);
}

static bool is_any(const void *ctx, uint32_t id)
{
	(void)ctx;
	(void)id;
	return true;
}

static bool is_that(const void *ctx, uint32_t id)
{
	const struct tui_view *view = ctx;

	return view->of == id;
}

/* A row for each function that has totals, in ns. */
static int add_rows(const struct tui_lines *lines, struct tui_table *table, struct uspl_err *err)
{
	const struct trace_log *log = &lines->reader->log;
	const struct totals *totals;

	vec_for_each (&table->totals, totals) {
		struct top_row *row = vec_push(&table->rows);

		if (!row)
			return uspl_fail_nomem(err);
		*row = (struct top_row){
			.id = totals->id,
			.calls = totals->calls,
			.open = totals->open,
			.self = trace_ns(log, totals->self),
			.total = trace_ns(log, totals->total),
			.avg = totals_average(totals) * log->ns_per_tick,
			.p99 = trace_ns(log, totals->p99),
			.max = trace_ns(log, totals->max),
		};
	}
	return 0;
}

static int make_functions(struct tui_lines *lines, struct uspl_err *err)
{
	static const totals_group groups[] = {
		[TUI_CALLER] = totals_by_caller,
		[TUI_ITSELF] = totals_by_itself,
		[TUI_CALLEE] = totals_by_callee,
	};
	const struct totals_choice choice = {
		.has = lines->view.kind == TUI_OF ? is_that : is_any,
		.ctx = &lines->view,
		.tid = lines->view.tid,
	};

	for (size_t i = 0; i < TUI_RELATIONS; i++) {
		int rc;

		if (lines->view.kind != TUI_OF && i != TUI_ITSELF)
			continue;
		rc = totals_make(timeline_of(lines), groups[i], &choice, &lines->tables[i].totals,
				 err);
		if (rc)
			return rc;
		rc = add_rows(lines, &lines->tables[i], err);
		if (rc)
			return rc;
	}
	return 0;
}

static int make_calls(struct tui_lines *lines, struct uspl_err *err)
{
	const struct timeline *timeline = timeline_of(lines);
	const struct tui_view *view = &lines->view;

	for (uint32_t i = 0; i < timeline->calls.n; i++) {
		const struct trace_span *span = &timeline->calls.items[i];
		bool made = span->parent == view->of;
		bool of = span->record.id == view->of &&
			  (!view->tid || span->record.tid == view->tid);
		uint32_t *place;

		if (!(view->kind == TUI_MADE ? made : of))
			continue;
		place = vec_push(&lines->calls);
		if (!place)
			return uspl_fail_nomem(err);
		*place = i;
	}
	return 0;
}

/* The calls of a thread stand one after the other. */
static int make_threads(struct tui_lines *lines, struct uspl_err *err)
{
	const struct timeline *timeline = timeline_of(lines);

	for (size_t from = 0, to; from < timeline->calls.n; from = to) {
		struct tui_thread *thread = vec_push(&lines->threads);

		if (!thread)
			return uspl_fail_nomem(err);
		*thread = (struct tui_thread){
			.tid = timeline->calls.items[from].record.tid,
			.first = timeline->calls.items[from].record.start,
		};
		to = timeline_thread_end(timeline, from);
		for (size_t i = from; i < to; i++) {
			const struct trace_span *span = &timeline->calls.items[i];
			uint64_t end = span->record.end ? span->record.end : span->record.start;

			thread->calls += span->record.how != TRACE_OPEN;
			thread->open += span->record.how == TRACE_OPEN;
			thread->self += span->self;
			thread->last = end > thread->last ? end : thread->last;
		}
	}
	return 0;
}

int tui_lines_make(struct tui_lines *lines, const struct reader *reader,
		   const struct tui_view *view, struct uspl_err *err)
{
	tui_lines_release(lines);
	lines->reader = reader;
	lines->view = *view;
	switch (view->kind) {
	case TUI_FUNCTIONS:
	case TUI_OF:
		return make_functions(lines, err);
	case TUI_CALLS:
	case TUI_MADE:
		return make_calls(lines, err);
	case TUI_THREADS:
		return make_threads(lines, err);
	case TUI_TREE:
		break;
	}
	return tui_tree_make(&lines->tree, &reader->timeline, view->tid, err);
}

void tui_lines_release(struct tui_lines *lines)
{
	for (size_t i = 0; i < TUI_RELATIONS; i++) {
		vec_release(&lines->tables[i].totals);
		vec_release(&lines->tables[i].rows);
	}
	vec_release(&lines->calls);
	vec_release(&lines->threads);
	tui_tree_release(&lines->tree);
	*lines = (struct tui_lines){ 0 };
}

struct call_order {
	const struct timeline *timeline;
	enum top_key key;
};

/* Of a call: its own time, its time, or its beginning, which is the order that it has already. */
static int by_call_key(const void *a, const void *b, void *ctx)
{
	const struct call_order *order = ctx;
	const uint32_t *at_x = a, *at_y = b;
	const struct trace_span *x = &order->timeline->calls.items[*at_x];
	const struct trace_span *y = &order->timeline->calls.items[*at_y];
	uint64_t vx = x->self, vy = y->self;

	if (order->key != TOP_SELF) {
		vx = x->record.end ? x->record.end - x->record.start : 0;
		vy = y->record.end ? y->record.end - y->record.start : 0;
	}
	if (order->key == TOP_CALLS || order->key == TOP_NAME || vx == vy)
		return x->record.start < y->record.start ? -1 : x->record.start > y->record.start;
	return vx > vy ? -1 : 1;
}

static int by_thread_key(const void *a, const void *b, void *ctx)
{
	const struct tui_thread *x = a, *y = b;
	const enum top_key *key = ctx;
	uint64_t vx = *key == TOP_CALLS ? x->calls : x->self;
	uint64_t vy = *key == TOP_CALLS ? y->calls : y->self;

	if (*key == TOP_NAME || vx == vy)
		return x->tid < y->tid ? -1 : x->tid > y->tid;
	return vx > vy ? -1 : 1;
}

void tui_lines_sort(struct tui_lines *lines, enum top_key key, const char *filter)
{
	for (size_t i = 0; i < TUI_RELATIONS; i++)
		lines->tables[i].shown =
			top_row_sort(&lines->tables[i].rows, &lines->reader->names, key,
				     lines->view.kind == TUI_FUNCTIONS ? filter : "");
	if (lines->calls.n)
		qsort_r(lines->calls.items, lines->calls.n, sizeof(*lines->calls.items),
			by_call_key, &(struct call_order){ timeline_of(lines), key });
	if (lines->threads.n)
		qsort_r(lines->threads.items, lines->threads.n, sizeof(*lines->threads.items),
			by_thread_key, &key);
}

size_t tui_lines_count(const struct tui_lines *lines)
{
	size_t n = lines->calls.n + lines->threads.n + lines->tree.shown.n;

	for (size_t i = 0; i < TUI_RELATIONS; i++)
		n += lines->tables[i].shown;
	return n;
}

/* The row of a line of functions, and which of the tables it is in. */
static const struct top_row *row_of(const struct tui_lines *lines, size_t line, size_t *ret_table)
{
	size_t table = 0;

	for (; line >= lines->tables[table].shown; table++)
		line -= lines->tables[table].shown;
	*ret_table = table;
	return &lines->tables[table].rows.items[line];
}

static const struct trace_span *span_of(const struct tui_lines *lines, size_t line)
{
	return &timeline_of(lines)->calls.items[lines->calls.items[line]];
}

uint32_t tui_lines_id(const struct tui_lines *lines, size_t line)
{
	size_t table;

	switch (lines->view.kind) {
	case TUI_FUNCTIONS:
	case TUI_OF:
		return row_of(lines, line, &table)->id;
	case TUI_CALLS:
	case TUI_MADE:
		return span_of(lines, line)->record.id;
	case TUI_THREADS:
		return 0;
	case TUI_TREE:
		break;
	}
	return tui_tree_id(&lines->tree, line);
}

bool tui_lines_next(const struct tui_lines *lines, size_t line, struct tui_view *ret)
{
	const struct timeline *timeline;
	size_t table;

	*ret = (struct tui_view){ .tid = lines->view.tid };
	switch (lines->view.kind) {
	case TUI_FUNCTIONS:
		ret->kind = TUI_OF;
		ret->of = tui_lines_id(lines, line);
		return true;
	case TUI_OF:
		ret->of = row_of(lines, line, &table)->id;
		ret->kind = table == TUI_ITSELF ? TUI_CALLS : TUI_OF;
		return true;
	case TUI_CALLS:
	case TUI_MADE:
		ret->kind = TUI_MADE;
		ret->of = lines->calls.items[line];
		timeline = timeline_of(lines);
		return ret->of + 1 < timeline->calls.n &&
		       timeline->calls.items[ret->of + 1].parent == ret->of;
	case TUI_THREADS:
		ret->kind = TUI_FUNCTIONS;
		ret->tid = lines->threads.items[line].tid;
		return true;
	case TUI_TREE:
		break;
	}
	return false;
}

static void add_function(const struct tui_lines *lines, uint32_t id, struct buf *out)
{
	top_row_add_name(&lines->reader->names, id, out);
}

void tui_lines_add_state(const struct tui_lines *lines, struct buf *out)
{
	const struct tui_view *view = &lines->view;
	const char *name;

	switch (view->kind) {
	case TUI_FUNCTIONS:
		buf_addstr(out, "functions");
		break;
	case TUI_OF:
		buf_addstr(out, "callers and callees of ");
		add_function(lines, view->of, out);
		break;
	case TUI_CALLS:
		buf_addstr(out, "calls of ");
		add_function(lines, view->of, out);
		break;
	case TUI_MADE:
		buf_addstr(out, "calls made in a call of ");
		add_function(lines, timeline_of(lines)->calls.items[view->of].record.id, out);
		break;
	case TUI_THREADS:
		buf_addstr(out, "threads");
		break;
	case TUI_TREE:
		buf_addstr(out, "call tree");
		break;
	}
	if (!view->tid)
		return;
	name = reader_thread_name(lines->reader, view->tid);
	buf_addf(out, " in thread %d ", view->tid);
	text_add_printable(out, name, strlen(name), false);
}

void tui_lines_add_head(const struct tui_lines *lines, struct buf *out)
{
	switch (lines->view.kind) {
	case TUI_FUNCTIONS:
	case TUI_OF:
		if (lines->view.kind == TUI_OF)
			buf_addf(out, "%-9s ", "");
		buf_addf(out, "%10s %13s %13s ", "CALLS", "SELF us", "TOTAL us");
		top_row_add_head(out);
		break;
	case TUI_CALLS:
	case TUI_MADE:
		buf_addf(out, "%13s %8s %13s %13s %-9s  %s", "BEGIN s", "TID", "TIME us", "SELF us",
			 "END", lines->view.kind == TUI_CALLS ? "CALLED BY" : "FUNCTION");
		break;
	case TUI_THREADS:
		buf_addf(out, "%8s %10s %13s %13s %13s %5s  %s", "TID", "CALLS", "SELF us",
			 "FIRST s", "LAST s", "OPEN", "THREAD");
		break;
	case TUI_TREE:
		buf_addf(out, "%10s %13s %13s %5s  %s", "CALLS", "TOTAL us", "SELF us", "OPEN",
			 "FUNCTION");
		break;
	}
}

static void add_row(const struct tui_lines *lines, size_t line, struct buf *out)
{
	static const char *const relations[] = {
		[TUI_CALLER] = "called by",
		[TUI_ITSELF] = "all of it",
		[TUI_CALLEE] = "calls",
	};
	size_t table, at;
	const struct top_row *row = row_of(lines, line, &table);
	const totals_vec *all = &lines->tables[table].totals;
	const struct totals *totals;

	if (lines->view.kind == TUI_OF)
		buf_addf(out, "%-9s ", relations[table]);
	buf_addf(out, "%10" PRIu64 " %13.3f %13.3f ", row->calls, row->self / 1e3,
		 row->total / 1e3);
	top_row_add(row, &lines->reader->names, out);
	at = vec_lower_bound(all, it, it->id < row->id);
	totals = &all->items[at];
	if (totals->left)
		buf_addf(out, " (%" PRIu64 " left)", totals->left);
	/* Of these SELF isn't known. */
	if (totals->cut)
		buf_addf(out, " (%" PRIu64 " cut)", totals->cut);
}

static void add_call(const struct tui_lines *lines, size_t line, struct buf *out)
{
	const struct trace_log *log = &lines->reader->log;
	const struct trace_span *span = span_of(lines, line);
	const struct trace_record *record = &span->record;
	const char *how = trace_how(record);
	auto_buf struct buf end = { 0 };

	buf_addstr(&end, how ? how : "");
	if (record->cut)
		buf_addstr(&end, end.len ? ",cut" : "cut");
	buf_addf(out, "%13.6f %8d ", trace_ns(log, record->start - log->start_ticks) / 1e9,
		 record->tid);
	if (record->end)
		buf_addf(out, "%13.3f ", to_us(lines, record->end - record->start));
	else
		buf_addf(out, "%13s ", "");
	if (record->end && record->how != TRACE_OPEN && !record->cut)
		buf_addf(out, "%13.3f ", to_us(lines, span->self));
	else
		buf_addf(out, "%13s ", "");
	buf_addf(out, "%-9s  ", buf_str(&end));
	if (lines->view.kind == TUI_MADE)
		add_function(lines, record->id, out);
	else if (span->parent != TRACE_NO_CALL)
		add_function(lines, timeline_of(lines)->calls.items[span->parent].record.id, out);
}

static void add_thread(const struct tui_lines *lines, size_t line, struct buf *out)
{
	const struct trace_log *log = &lines->reader->log;
	const struct tui_thread *thread = &lines->threads.items[line];
	const char *name = reader_thread_name(lines->reader, thread->tid);

	buf_addf(out, "%8d %10" PRIu64 " %13.3f %13.6f %13.6f %5" PRIu64 "  ", thread->tid,
		 thread->calls, to_us(lines, thread->self),
		 trace_ns(log, thread->first - log->start_ticks) / 1e9,
		 trace_ns(log, thread->last - log->start_ticks) / 1e9, thread->open);
	text_add_printable(out, name, strlen(name), false);
}

static void add_branch(const struct tui_lines *lines, size_t line, struct buf *out)
{
	const struct tui_branch *branch = tui_tree_branch(&lines->tree, line);
	bool fits = branch->depth < INDENT_MAX;

	buf_addf(out, "%10" PRIu64 " %13.3f %13.3f %5" PRIu64 "  %*s%c ", branch->calls,
		 to_us(lines, branch->total), to_us(lines, branch->self), branch->open,
		 2 * (int)(fits ? branch->depth : INDENT_MAX), "",
		 !branch->child     ? ' '
		 : branch->unfolded ? '-'
				    : '+');
	if (!fits)
		buf_addf(out, "[%u] ", branch->depth);
	add_function(lines, tui_tree_id(&lines->tree, line), out);
}

void tui_lines_add(const struct tui_lines *lines, size_t line, struct buf *out)
{
	switch (lines->view.kind) {
	case TUI_FUNCTIONS:
	case TUI_OF:
		add_row(lines, line, out);
		break;
	case TUI_CALLS:
	case TUI_MADE:
		add_call(lines, line, out);
		break;
	case TUI_THREADS:
		add_thread(lines, line, out);
		break;
	case TUI_TREE:
		add_branch(lines, line, out);
		break;
	}
}
