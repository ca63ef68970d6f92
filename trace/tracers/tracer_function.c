// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_function.c - which function was called when, and by which

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
	buf_addstr(out, "#           TASK-TID       CPU          TIMESTAMP  FUNCTION\n"
			"#              | |          |               |       |\n");
}

static void print_line(const struct trace_log *log, const struct trace_event *event,
		       struct buf *out)
{
	const struct trace_record *record = &log->timeline->calls.items[event->call].record;
	const struct kernel_event *kernel = trace_kernel(log, record);
	char callee[NAME_MAX_LEN], caller[NAME_MAX_LEN], cpu[16] = "???";

	if (event->kind == TRACE_LEAVE)
		return;
	if (record->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%03d", record->cpu);
	buf_addf(out, "%16s-%-8d [%s] %18.6f: ", log->comm, record->tid, cpu,
		 trace_us(log, record->start - log->start_ticks) / 1e6);
	if (kernel) {
		kernel_event_add(kernel, out);
		kernel_event_add_result(kernel, out);
		buf_addf(out, "%s %.3f us\n", record->how == TRACE_OPEN ? " /* open */" : "",
			 trace_us(log, record->end - record->start));
		return;
	}
	buf_addstr(out, names_of(log->names, record->id, callee, sizeof(callee)));
	if (record->args) {
		buf_addstr(out, "(");
		values_add_text(log, record->args, out);
		buf_addstr(out, ")");
	}
	buf_addf(out, " <- %s\n",
		 names_of_caller(log->names, record->caller, caller, sizeof(caller)));
}

static const struct tracer_hook hook = {
	.entries = true,
	.head = print_head,
	.line = print_line,
	.mark = mark_line_event,
};

const struct tracer tracer_function = {
	.name = "function",
	.help = "which function was called when, and by whom",
	.hook = &hook,
};
