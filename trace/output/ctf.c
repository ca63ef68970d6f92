// SPDX-License-Identifier: GPL-3.0-or-later
// ctf.c - what was recorded as a folder in the Common Trace Format, version 1.8
/*
 * babeltrace2 and Trace Compass read it (https://diamon.org/ctf/v1.8.3/).
 *
 *     metadata    in TSDL: how the others are to be read, and the functions' names
 *     thread-TID  a stream of one packet: entries and exits of a thread's calls, and what the
 *                 kernel has told of the thread
 *     markers     the hits of markers, if there are any
 *
 * A function is a number in the streams, 4 bytes, and its name an enumerator.
 */

#include "trace/output/ctf.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/output/tracer.h"

#define NAME_MAX_LEN 512
#define MAGIC 0xc1fc1fc1u

enum { STREAM_CALLS, STREAM_MARKERS };
enum {
	EVENT_ENTRY,
	EVENT_EXIT,
	EVENT_SYSCALL_ENTRY,
	EVENT_SYSCALL_EXIT,
	EVENT_SCHED_OUT,
	EVENT_SCHED_IN,
	EVENT_FAULT_ENTRY,
	EVENT_FAULT_EXIT,
};

/* Before the events of a stream, little endian and without gaps, as the metadata say. */
struct packet_head {
	uint32_t magic, stream;
	uint64_t bits[2], begin, end;
	int32_t tid;
} __attribute__((packed));

static uint64_t time_ns(const struct reader *reader, uint64_t ticks)
{
	const struct trace_log *log = &reader->log;

	return (uint64_t)trace_whole_ns(log, ticks - log->start_ticks);
}

/* A string of TSDL. */
static void add_quoted(struct buf *out, const char *text)
{
	buf_addstr(out, "\"");
	for (; *text; text++)
		buf_addf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
	buf_addstr(out, "\"");
}

static int add_functions(const struct reader *reader, struct buf *out, struct uspl_err *err)
{
	size_t n_ids = reader->names.by_id.n;
	auto_free bool *called = calloc(n_ids + 1, sizeof(*called));
	const struct trace_span *span;

	if (!called)
		return uspl_fail_nomem(err);
	vec_for_each (&reader->timeline.calls, span)
		if (!(span->record.id & TRACE_KERNEL))
			called[span->record.id] = true;
	buf_addstr(out, "enum function : uint32_t {\n\t\"?\" = 0");
	for (uint32_t id = 1; id <= n_ids; id++) {
		char buf[NAME_MAX_LEN];

		if (!called[id])
			continue;
		buf_addstr(out, ",\n\t");
		add_quoted(out, names_of(reader->log.names, id, buf, sizeof(buf)));
		buf_addf(out, " = %u", id);
	}
	buf_addstr(out, "\n};\n\n");
	return 0;
}

/* System calls that were made, by their numbers. */
static int add_syscalls(const struct reader *reader, struct buf *out, struct uspl_err *err)
{
	const struct kernel_event *event;
	auto_vec VEC(int32_t) known = { 0 };

	buf_addstr(out, "enum syscall : int32_t {\n\t\"?\" = -1");
	vec_for_each (&reader->kernel.events, event) {
		size_t i = 0;
		int32_t *place;
		char buf[NAME_MAX_LEN];

		while (i < known.n && known.items[i] != event->nr)
			i++;
		if (event->nr < 0 || i < known.n)
			continue;
		place = vec_push(&known);
		if (!place)
			return uspl_fail_nomem(err);
		*place = event->nr;
		buf_addstr(out, ",\n\t");
		add_quoted(out, kernel_syscall_name(event->nr, buf, sizeof(buf)));
		buf_addf(out, " = %" PRId32, event->nr);
	}
	buf_addstr(out, "\n};\n\n");
	return 0;
}

static int write_in(const char *dir, const char *name, const struct buf *content,
		    struct uspl_err *err)
{
	auto_free char *path = file_join(dir, name);

	if (!path || content->oom)
		return uspl_fail_nomem(err);
	return file_write(path, content->data, content->len, err);
}

static const char head_types[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := "
	"addr_t;\n\n"
	"trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
	"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint32_t stream_id;\n\t};\n"
	"};\n\n";

/* Times count from the start of tracing, which was at `offset` of CLOCK_MONOTONIC. */
static const char call_types[] =
	"typealias integer { size = 64; align = 8; signed = false;\n"
	"\tmap = clock.monotonic.value; } := time_t;\n\n"
	"struct packet_context {\n\tuint64_t content_size;\n\tuint64_t packet_size;\n"
	"\ttime_t timestamp_begin;\n\ttime_t timestamp_end;\n\tint32_t tid;\n};\n\n"
	"struct event_header {\n\tuint8_t id;\n\ttime_t timestamp;\n};\n\n"
	"stream {\n\tid = 0;\n\tpacket.context := struct packet_context;\n"
	"\tevent.header := struct event_header;\n};\n\n"
	"event {\n\tname = \"entry\";\n\tid = 0;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tenum function function;\n\t};\n};\n\n"
	"event {\n\tname = \"exit\";\n\tid = 1;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tenum function function;\n"
	"\t\tenum : uint8_t { \"returned\" = 0, \"left\" = 1, \"open\" = 2 } "
	"how;\n\t};\n};\n\n";

/* What the kernel has told, in the streams of calls. */
static const char kernel_types[] =
	"event {\n\tname = \"syscall_entry\";\n\tid = 2;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tenum syscall syscall;\n\t\tint32_t cpu;\n\t};\n};\n\n"
	"event {\n\tname = \"syscall_exit\";\n\tid = 3;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tenum syscall syscall;\n\t\tint64_t result;\n"
	"\t\tenum : uint8_t { \"returned\" = 0, \"ended\" = 1, \"open\" = 2 } "
	"how;\n\t};\n};\n\n"
	"event {\n\tname = \"sched_out\";\n\tid = 4;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tenum : uint8_t { \"blocked\" = 0, \"preempted\" = 1 } "
	"why;\n"
	"\t\tenum syscall syscall;\n\t\tint32_t cpu;\n\t};\n};\n\n"
	"event {\n\tname = \"sched_in\";\n\tid = 5;\n\tstream_id = 0;\n};\n\n"
	"event {\n\tname = \"fault_entry\";\n\tid = 6;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\taddr_t address;\n\t\tint32_t cpu;\n\t};\n};\n\n"
	"event {\n\tname = \"fault_exit\";\n\tid = 7;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tenum : uint8_t { \"minor\" = 0, \"major\" = 1, "
	"\"not served\" = 2 } how;\n\t};\n};\n\n";

static const char marker_types[] =
	"stream {\n\tid = 1;\n\tpacket.context := struct packet_context;\n"
	"\tevent.header := struct event_header;\n};\n\n"
	"event {\n\tname = \"marker\";\n\tid = 0;\n\tstream_id = 1;\n"
	"\tfields := struct {\n\t\tint32_t tid;\n\t\tstring name;\n\t\tstring "
	"message;\n\t};\n"
	"};\n";

static int write_metadata(const struct reader *reader, const char *dir, struct uspl_err *err)
{
	const struct trace_log *log = &reader->log;
	auto_buf struct buf out = { 0 };
	int rc;

	buf_addstr(&out, head_types);
	buf_addf(&out, "env {\n\ttracer_name = \"uspl-trace\";\n\ttracer = ");
	add_quoted(&out, reader->tracer->name);
	buf_addstr(&out, ";\n\tprocname = ");
	add_quoted(&out, log->comm);
	buf_addf(&out,
		 ";\n\tvpid = %d;\n\toverwritten = %" PRIu64 ";\n\tunrecorded = %" PRIu64
		 ";\n\tkernel_lost = %" PRIu64 ";\n};\n\n",
		 log->pid, log->overwritten, log->unseen, reader->kernel.lost);
	buf_addf(&out,
		 "clock {\n\tname = \"monotonic\";\n\tfreq = 1000000000;\n\toffset = %" PRIu64
		 ";\n};\n\n",
		 reader->log.session->regions.n
			 ? (uint64_t)reader->log.session->regions.items[0].head.start_ns
			 : 0);
	rc = add_functions(reader, &out, err);
	if (rc)
		return rc;
	rc = add_syscalls(reader, &out, err);
	if (rc)
		return rc;
	buf_addstr(&out, call_types);
	buf_addstr(&out, kernel_types);
	buf_addstr(&out, marker_types);
	return write_in(dir, "metadata", &out, err);
}

static void begin_packet(struct buf *out, uint32_t stream, pid_t tid, uint64_t begin)
{
	const struct packet_head head = {
		.magic = MAGIC, .stream = stream, .begin = begin, .end = begin, .tid = tid
	};

	buf_add(out, &head, sizeof(head));
}

/* A packet ends with its last event. */
static void add_head(struct buf *out, uint8_t event, uint64_t time)
{
	if (!out->oom)
		memcpy(out->data + offsetof(struct packet_head, end), &time, sizeof(time));
	buf_add(out, &event, sizeof(event));
	buf_add(out, &time, sizeof(time));
}

/* Now its length is known. */
static void end_packet(struct buf *out)
{
	uint64_t bits[2] = { out->len * 8, out->len * 8 };

	if (!out->oom)
		memcpy(out->data + offsetof(struct packet_head, bits), bits, sizeof(bits));
}

static void add_entry(const struct reader *reader, const struct trace_span *span, struct buf *out)
{
	static const uint8_t ids[KERNEL_KINDS] = { EVENT_SYSCALL_ENTRY, EVENT_SCHED_OUT,
						   EVENT_FAULT_ENTRY };
	const struct kernel_event *event = trace_kernel(&reader->log, &span->record);
	uint8_t why = event && event->flags & KERNEL_PREEMPTED ? 1 : 0;

	if (event) {
		add_head(out, ids[event->kind], time_ns(reader, span->record.start));
		if (event->kind == KERNEL_OFF)
			buf_add(out, &why, sizeof(why));
		if (event->kind == KERNEL_FAULT)
			buf_add(out, &event->value, sizeof(event->value));
		else
			buf_add(out, &event->nr, sizeof(event->nr));
		buf_add(out, &event->cpu, sizeof(event->cpu));
		return;
	}
	add_head(out, EVENT_ENTRY, time_ns(reader, span->record.start));
	buf_add(out, &span->record.id, sizeof(span->record.id));
}

static void add_exit(const struct reader *reader, const struct trace_span *span, struct buf *out)
{
	static const uint8_t ids[KERNEL_KINDS] = { EVENT_SYSCALL_EXIT, EVENT_SCHED_IN,
						   EVENT_FAULT_EXIT };
	const struct kernel_event *event = trace_kernel(&reader->log, &span->record);
	uint32_t flags = event ? event->flags : 0;
	uint8_t ended = flags & KERNEL_OPEN ? 2 : flags & KERNEL_UNDONE ? 1 : 0;
	uint8_t served = flags & KERNEL_UNDONE ? 2 : flags & KERNEL_MAJOR ? 1 : 0;
	uint8_t how = (uint8_t)span->record.how;

	if (event) {
		add_head(out, ids[event->kind], time_ns(reader, span->end));
		if (event->kind == KERNEL_SYSCALL) {
			buf_add(out, &event->nr, sizeof(event->nr));
			buf_add(out, &event->value, sizeof(event->value));
			buf_add(out, &ended, sizeof(ended));
		} else if (event->kind == KERNEL_FAULT) {
			buf_add(out, &served, sizeof(served));
		}
		return;
	}
	add_head(out, EVENT_EXIT, time_ns(reader, span->end));
	buf_add(out, &span->record.id, sizeof(span->record.id));
	buf_add(out, &how, sizeof(how));
}

/* The calls [from, to) are a thread's, a caller before those that it calls. */
static int write_thread(const struct reader *reader, const char *dir, size_t from, size_t to,
			struct uspl_err *err)
{
	const struct trace_span *calls = reader->timeline.calls.items;
	auto_vec VEC(uint32_t) open = { 0 };
	auto_buf struct buf out = { 0 };
	pid_t tid = calls[from].record.tid;
	char name[32];

	begin_packet(&out, STREAM_CALLS, tid, time_ns(reader, calls[from].record.start));
	for (size_t i = from; i <= to; i++) {
		uint32_t depth = i < to ? calls[i].depth : 0, *place;

		while (open.n > depth)
			add_exit(reader, &calls[open.items[--open.n]], &out);
		if (i == to)
			break;
		add_entry(reader, &calls[i], &out);
		if (calls[i].record.end) {
			place = vec_push(&open);
			if (!place)
				return uspl_fail_nomem(err);
			*place = (uint32_t)i;
		}
	}
	end_packet(&out);
	snprintf(name, sizeof(name), "thread-%d", tid);
	return write_in(dir, name, &out, err);
}

static void add_mark(const struct reader *reader, const struct mark_line *line, struct buf *out)
{
	int32_t tid = line->tid;

	add_head(out, 0, time_ns(reader, line->time));
	buf_add(out, &tid, sizeof(tid));
	buf_add(out, line->name, strlen(line->name) + 1);
	buf_add(out, line->message, strlen(line->message) + 1);
}

int ctf_write(struct reader *reader, const char *dir, struct uspl_err *err)
{
	const struct timeline *timeline = &reader->timeline;
	auto_buf struct buf marks = { 0 };
	int rc;

	if (mkdir(dir, 0777) != 0)
		return uspl_fail_errno(err, "cannot make the folder '%s'", dir);
	rc = write_metadata(reader, dir, err);
	if (rc)
		return rc;
	for (size_t from = 0, to; from < timeline->calls.n; from = to) {
		to = timeline_thread_end(timeline, from);
		rc = write_thread(reader, dir, from, to, err);
		if (rc)
			return rc;
	}
	if (!marks_count(reader))
		return 0;
	begin_packet(&marks, STREAM_MARKERS, reader->log.pid, 0);
	marks_print(reader, 0, UINT64_MAX, add_mark, &marks);
	end_packet(&marks);
	return write_in(dir, "markers", &marks, err);
}
