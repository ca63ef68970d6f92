// SPDX-License-Identifier: GPL-3.0-or-later
// top_table.c - rows as lines of text, and as JSON

#include "trace/top/top_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "trace/output/json_end.h"

#define NAME_MAX_LEN 512

void top_table_title(const struct top_rows *rows, struct buf *out)
{
	const struct proc *proc = rows->tally.view.proc;

	buf_addf(out, "pid %d ", proc->pid);
	text_add_printable(out, proc->comm, strlen(proc->comm), false);
	buf_addf(out, ", %zu threads that called, %zu functions, in %.1f s", rows->sums.threads.n,
		 rows->rows.n, rows->seconds);
	if (rows->sums.lost)
		buf_addf(out, ", %" PRIu64 " calls not followed", rows->sums.lost);
}

void top_table_head(struct buf *out)
{
	buf_addf(out, "%12s %7s %7s ", "CALLS/s", "SELF %", "TOTAL %");
	top_row_add_head(out);
}

void top_table_row(const struct top_rows *rows, const struct top_row *row, struct buf *out)
{
	double ns = rows->seconds > 0 ? rows->seconds * 1e9 : 1;

	buf_addf(out, "%12.0f %7.1f %7.1f ", (double)row->calls * 1e9 / ns, row->self * 100 / ns,
		 row->total * 100 / ns);
	top_row_add(row, &rows->names, out);
}

void top_table_callers_title(const struct top_rows *rows, const struct top_callers *callers,
			     struct buf *out)
{
	buf_addstr(out, "callers of ");
	top_row_add_name(&rows->names, callers->id, out);
	buf_addf(out, ": open calls of it seen in %" PRIu64 " looks: %" PRIu64, callers->looks,
		 callers->seen);
}

void top_table_callers_head(struct buf *out)
{
	buf_addf(out, "%12s %7s  %s", "SEEN", "%", "CALLED FROM");
}

void top_table_caller(struct top_rows *rows, const struct top_callers *callers,
		      const struct top_caller *caller, struct buf *out)
{
	auto_buf struct buf place = { 0 };

	buf_addf(out, "%12" PRIu64 " %7.1f  ", caller->seen,
		 (double)caller->seen * 100 / (double)(callers->seen ? callers->seen : 1));
	places_add_caller(&rows->tally.places, caller->back, &place);
	text_add_printable(out, buf_str(&place), place.len, false);
	if (!caller->around)
		return;
	buf_addstr(out, ", in ");
	top_row_add_name(&rows->names, caller->around, out);
}

void top_table_json_title(const struct top_rows *rows, size_t n, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "kind", "table");
	json_number(&json, "version", TRACE_JSON_VERSION);
	json_number(&json, "pid", rows->tally.view.proc->pid);
	json_ns(&json, "duration_ns", rows->seconds * 1e9);
	json_number(&json, "functions", (int64_t)n);
	json_number(&json, "lost", (int64_t)rows->sums.lost);
	json_close(&json, '}');
	buf_addstr(out, json_text(&json));
	out->oom |= json.buf.oom;
}

void top_table_json(const struct top_rows *rows, const struct top_row *row, struct buf *out)
{
	auto_json struct json json = { 0 };
	char buf[NAME_MAX_LEN];

	json_open(&json, NULL, '{');
	json_string(&json, "kind", "function");
	json_string(&json, "name", names_of(&rows->names, row->id, buf, sizeof(buf)));
	json_string(&json, "module", names_module(&rows->names, row->id));
	json_number(&json, "calls", (int64_t)row->calls);
	json_ns(&json, "total_ns", row->total);
	json_ns(&json, "self_ns", row->self);
	json_ns(&json, "avg_ns", row->avg);
	json_ns(&json, "p99_ns", row->p99);
	json_ns(&json, "max_ns", row->max);
	json_number(&json, "open", (int64_t)row->open);
	json_close(&json, '}');
	buf_addstr(out, json_text(&json));
	out->oom |= json.buf.oom;
}
