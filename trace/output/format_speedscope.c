// SPDX-License-Identifier: GPL-3.0-or-later
// format_speedscope.c - speedscope's file format, a profile of events for each thread
//
// https://www.speedscope.app/file-format-schema.json is its schema: events open (O) and close (C)
// frames by their index in a table, in order of time, and nest exactly.

#include "base/json.h"
#include "trace/output/formats.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"

#define NAME_MAX_LEN 512

/* The functions that were called, numbered in the order of their ids. */
struct frames {
	const struct reader *reader;
	uint32_t *places; /* by id: the frame's index + 1 */
	VEC(uint32_t) open;
};

static void release(struct frames *frames)
{
	free(frames->places);
	vec_release(&frames->open);
}

DEFINE_AUTO_RELEASE(frames, struct frames, release)
#define auto_frames __attribute__((cleanup(cleanup_frames_)))

static int64_t ns_at(const struct trace_log *log, uint64_t ticks)
{
	return trace_whole_ns(log, ticks - log->start_ticks);
}

/* Writes the table of frames. */
static int add_frames(struct frames *frames, struct json *json, struct uspl_err *err)
{
	const struct trace_log *log = &frames->reader->log;
	size_t n_ids = frames->reader->names.by_id.n;
	const struct trace_span *span;
	uint32_t n = 0;

	frames->places = calloc(n_ids + 1, sizeof(*frames->places));
	if (!frames->places)
		return uspl_fail_nomem(err);
	vec_for_each (&frames->reader->timeline.calls, span)
		frames->places[span->record.id] = 1;
	json_open(json, "shared", '{');
	json_open(json, "frames", '[');
	for (uint32_t id = 1; id <= n_ids; id++) {
		char buf[NAME_MAX_LEN];

		if (!frames->places[id])
			continue;
		frames->places[id] = ++n;
		json_open(json, NULL, '{');
		json_string(json, "name", names_of(log->names, id, buf, sizeof(buf)));
		json_string(json, "file", names_module(log->names, id));
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
	return 0;
}

static void add_event(struct json *json, const char *type, uint32_t place, int64_t at)
{
	json_open(json, NULL, '{');
	json_string(json, "type", type);
	json_number(json, "frame", place - 1);
	json_number(json, "at", at);
	json_close(json, '}');
}

/* Closes the open calls of a thread that are as deep as this, or deeper. */
static void close_calls(struct frames *frames, uint32_t depth, struct json *json)
{
	const struct timeline *timeline = &frames->reader->timeline;

	while (frames->open.n > depth) {
		uint32_t call = frames->open.items[--frames->open.n];
		const struct trace_span *span = &timeline->calls.items[call];

		add_event(json, "C", frames->places[span->record.id],
			  ns_at(&frames->reader->log, span->end));
	}
}

/* The calls from `from` on that are one thread's; `to` is behind the last. */
static int add_thread(struct frames *frames, size_t from, size_t to, struct json *json,
		      struct uspl_err *err)
{
	const struct reader *reader = frames->reader;
	const struct trace_span *calls = reader->timeline.calls.items;
	pid_t tid = calls[from].record.tid;
	uint64_t last = 0;
	char name[128];

	for (size_t i = from; i < to; i++)
		last = calls[i].end > last ? calls[i].end : last;
	snprintf(name, sizeof(name), "%s (thread %d)", reader_thread_name(reader, tid), tid);
	json_open(json, NULL, '{');
	json_string(json, "type", "evented");
	json_string(json, "name", name);
	json_string(json, "unit", "nanoseconds");
	json_number(json, "startValue", ns_at(&reader->log, calls[from].record.start));
	json_number(json, "endValue", ns_at(&reader->log, last));
	json_open(json, "events", '[');
	for (size_t i = from; i < to; i++) {
		uint32_t *place;

		if (reader->log.depth && calls[i].depth >= reader->log.depth)
			continue;
		close_calls(frames, calls[i].depth, json);
		place = vec_push(&frames->open);
		if (!place)
			return uspl_fail_nomem(err);
		*place = (uint32_t)i;
		add_event(json, "O", frames->places[calls[i].record.id],
			  ns_at(&reader->log, calls[i].record.start));
	}
	close_calls(frames, 0, json);
	json_close(json, ']');
	json_close(json, '}');
	return 0;
}

static int body(struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct timeline *timeline = &reader->timeline;
	auto_frames struct frames frames = { .reader = reader };
	auto_json struct json json = { 0 };
	int rc;

	json_open(&json, NULL, '{');
	json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_string(&json, "exporter", "uspl-trace");
	json_string(&json, "name", reader->log.comm);
	rc = add_frames(&frames, &json, err);
	if (rc)
		return rc;
	json_open(&json, "profiles", '[');
	for (size_t from = 0, to; from < timeline->calls.n; from = to) {
		to = timeline_thread_end(timeline, from);
		rc = add_thread(&frames, from, to, &json, err);
		if (rc)
			return rc;
		buf_addstr(out, json_text(&json));
		json.buf.len = 0;
		format_flush(reader->to, out, false);
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buf_addf(out, "%s\n", json_text(&json));
	return json.buf.oom ? uspl_fail_nomem(err) : 0;
}

static void end(const struct reader *reader, struct buf *out)
{
	format_flush(reader->to, out, true);
	reader_print_losses(reader, stderr);
}

const struct format format_speedscope = { .name = "speedscope",
					  .suffix = ".speedscope.json",
					  .durations = true,
					  .whole = true,
					  .body = body,
					  .end = end };
