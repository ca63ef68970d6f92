// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_graph.c - which function called which, and how long it took

#include "trace/log/timeline.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/trace_log.h"
#include "trace/output/tracer.h"
#include "trace/output/values_shown.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 512

static void print_head(struct buf *out)
{
	buf_addstr(out, "#       TIME         TID      DURATION              FUNCTION GRAPH\n"
			"#        |            |         |                    |   |   |\n");
}

/* A mark for calls that took long, as ftrace has them. */
static char mark_of(double us)
{
	return us >= 1e6   ? '$'
	       : us >= 1e5 ? '@'
	       : us >= 1e4 ? '*'
	       : us >= 1e3 ? '#'
	       : us >= 100 ? '!'
	       : us >= 10  ? '+'
			   : ' ';
}

/* " = RESULT", if there is one; false if not. */
static bool print_result(const struct trace_log *log, const struct trace_record *record,
			 const struct kernel_event *kernel, struct buf *out)
{
	size_t len = out->len;

	if (kernel) {
		kernel_event_add_result(kernel, out);
	} else if (record->result) {
		buf_addstr(out, " = ");
		values_add_text(log, record->result, out);
	}
	return out->len > len;
}

/* What the kernel has told stands where a call would. */
static void print_line(const struct trace_log *log, const struct trace_event *event,
		       struct buf *out)
{
	const struct trace_span *span = &log->timeline->calls.items[event->call];
	const struct trace_record *record = &span->record;
	const struct kernel_event *kernel = trace_kernel(log, record);
	double us = trace_us(log, record->end - record->start);
	char buf[NAME_MAX_LEN];
	const char *name = kernel ? kernel_event_name(kernel, buf, sizeof(buf))
				  : names_of(log->names, record->id, buf, sizeof(buf)),
		   *how = trace_how(record);

	buf_addf(out, "%14.6f %9d) ", trace_us(log, event->time - log->start_ticks) / 1e6,
		 record->tid);
	if (event->kind == TRACE_ENTER)
		buf_addf(out, "%17s", "");
	else
		buf_addf(out, "%c %12.3f us", mark_of(us), us);
	buf_addf(out, " |  %*s", (int)(2 * span->depth), "");
	if (event->kind == TRACE_LEAVE) {
		buf_addstr(out, "}");
		buf_addf(out, "%s /* %s%s%s */\n",
			 print_result(log, record, kernel, out) ? ";" : "", name, how ? ", " : "",
			 how ? how : "");
		return;
	}
	if (kernel) {
		kernel_event_add(kernel, out);
	} else {
		buf_addf(out, "%s(", name);
		values_add_text(log, record->args, out);
		buf_addstr(out, ")");
	}
	if (event->kind == TRACE_LEAF)
		print_result(log, record, kernel, out);
	buf_addstr(out, event->kind == TRACE_LEAF ? ";" : " {");
	if (event->kind == TRACE_LEAF && how)
		buf_addf(out, " /* %s */", how);
	buf_addstr(out, "\n");
}

static const struct tracer_hook hook = {
	.head = print_head,
	.line = print_line,
	.mark = mark_line_graph,
};

const struct tracer tracer_graph = {
	.name = "graph",
	.help = "calls of functions, their durations, and who calls whom (the default)",
	.hook = &hook,
};
