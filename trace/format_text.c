// SPDX-License-Identifier: GPL-3.0-or-later
// format_text.c - records as lines for people, in the tracer's own form

#include "trace/trace.h"

static void begin(const struct reader *reader, struct buf *out)
{
	const struct tracer *tracer = tracer_of(&reader->view.session);

	buf_addf(out, "# tracer: %s, pid %d\n", tracer->name, reader->log.pid);
	tracer->hook->head(out);
}

/* False for what lies too deep; a call all of whose callees do becomes a leaf. */
static bool cut(const struct trace_log *log, struct trace_event *event)
{
	uint32_t depth = log->timeline->calls.items[event->call].depth;

	if (!log->depth || depth + 1 < log->depth)
		return true;
	if (depth + 1 > log->depth || event->kind == TRACE_ENTER)
		return false;
	event->kind = TRACE_LEAF;
	return true;
}

static int body(const struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct tracer *tracer = tracer_of(&reader->view.session);
	const struct trace_event *event;
	size_t mark = 0;

	(void)err;
	vec_for_each (&reader->timeline.events, event) {
		struct trace_event shown = *event;

		mark = marks_print(reader, mark, event->time, tracer->hook->mark, out);
		if (cut(&reader->log, &shown))
			tracer->hook->line(&reader->log, &shown, out);
		format_flush(out, false);
	}
	marks_print(reader, mark, UINT64_MAX, tracer->hook->mark, out);
	return 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	format_flush(out, true);
	reader_print_losses(reader, stdout);
}

const struct format format_text = { .name = "text", .begin = begin, .body = body, .end = end };
