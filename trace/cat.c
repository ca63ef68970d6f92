// SPDX-License-Identifier: GPL-3.0-or-later
// cat.c - uspl-trace cat: what was recorded, as text; and report: by function

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "trace/trace.h"

#define FOLLOW_NS 100000000
#define NAME_MAX_LEN 512

/* A reader of all rings of a session. */
struct reader {
	struct view view;
	struct trace_names names;
	VEC(struct trace_ring) rings;
	trace_records records;
	struct timeline timeline;
	struct trace_log log;
};

static void reader_release(struct reader *reader)
{
	timeline_release(&reader->timeline);
	vec_release(&reader->records);
	vec_release(&reader->rings);
	names_release(&reader->names);
	view_release(&reader->view);
}

static int reader_open(pid_t pid, struct reader *reader, struct uspl_err *err)
{
	const struct uspl_trace_region *head;
	int rc = view_open(pid, false, &reader->view, err);

	if (rc)
		return rc;
	head = &reader->view.session.regions.items[0].head;
	rc = names_find(reader->view.proc, &reader->view.modules, &reader->view.session,
			&reader->names, err);
	reader->log = (struct trace_log){ .pid = pid,
					  .session = &reader->view.session,
					  .names = &reader->names,
					  .start_ticks = head->start_ticks,
					  .timeline = &reader->timeline };
	snprintf(reader->log.comm, sizeof(reader->log.comm), "%s", reader->view.proc->comm);
	return rc;
}

/* Rings that threads have taken since the last look. */
static int find_rings(struct reader *reader, struct uspl_err *err)
{
	const struct uspl_trace_region *head = &reader->view.session.regions.items[0].head;
	struct uspl_trace_counters counters;
	uint64_t n;
	int rc = proc_read(reader->view.proc, head->counters, &counters, sizeof(counters), err);

	if (rc)
		return rc;
	n = counters.next_ring < head->n_rings ? counters.next_ring : head->n_rings;
	while (reader->rings.n < n) {
		struct trace_ring *ring = vec_push(&reader->rings);

		if (!ring)
			return uspl_fail_nomem(err);
		*ring = (struct trace_ring){ .addr = head->rings +
						     (reader->rings.n - 1) * head->ring_bytes,
					     .mask = head->ring_mask,
					     .entries = head->entries };
	}
	reader->log.unseen = counters.nowhere;
	return 0;
}

/* Reads what is new, and puts it in order. */
static int reader_read(struct reader *reader, struct uspl_err *err)
{
	const struct uspl_trace_region *head = &reader->view.session.regions.items[0].head;
	const struct trace_clocks start = { head->start_ticks, head->start_ns };
	struct trace_clocks now;
	struct trace_ring *ring;
	int rc = find_rings(reader, err);

	reader->records.n = 0;
	reader->log.overwritten = 0;
	vec_for_each (&reader->rings, ring) {
		if (!rc)
			rc = trace_ring_read(reader->view.proc, ring, &reader->records, err);
		reader->log.overwritten += ring->overwritten;
		reader->log.unseen += ring->unseen;
	}
	timeline_release(&reader->timeline);
	if (!rc)
		rc = timeline_make(&reader->records, &reader->timeline, err);
	clocks_read(&now);
	reader->log.ns_per_tick = clocks_ns_per_tick(&start, &now);
	return rc;
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

static void print_events(const struct reader *reader)
{
	const struct tracer *tracer = tracer_of(&reader->view.session);
	const struct trace_event *event;
	auto_buf struct buf out = { 0 };

	vec_for_each (&reader->timeline.events, event) {
		struct trace_event shown = *event;

		if (!cut(&reader->log, &shown))
			continue;
		tracer->line(&reader->log, &shown, &out);
		if (out.len > 1 << 16) {
			fputs(buf_str(&out), stdout);
			buf_release(&out);
		}
	}
	fputs(buf_str(&out), stdout);
}

/* What isn't in the output, if anything: nothing is lost silently. */
static void print_losses(const struct reader *reader)
{
	if (reader->log.overwritten)
		printf("# %llu older records were overwritten before they were read\n",
		       (unsigned long long)reader->log.overwritten);
	if (reader->log.unseen)
		printf("# %llu calls could not be recorded\n",
		       (unsigned long long)reader->log.unseen);
}

static int follow(struct reader *reader, struct uspl_err *err)
{
	const struct timespec pause = { 0, FOLLOW_NS };
	int rc = 0;

	while (!rc && !cancel_requested()) {
		rc = reader_read(reader, err);
		if (!rc)
			print_events(reader);
		if (fflush(stdout))
			break;
		if (!rc)
			nanosleep(&pause, NULL);
	}
	/* The process has ended, or its tracing has: so has what there is to follow. */
	if (rc == -USPL_E_NO_PROCESS || rc == -USPL_E_SYSTEM)
		rc = 0;
	return rc;
}

static int open_only_pid(const struct cli_command *cmd, int argc, char **argv,
			 struct reader *reader, struct uspl_err *err)
{
	int first, rc = cli_parse(cmd, argc, argv, &first, err);
	pid_t pid;

	if (rc)
		return rc;
	if (argc - first != 1) {
		uspl_fail(err, USPL_E_USAGE,
			  first == argc ? "no pid given" : "more than one pid given");
		uspl_hint(err, "try '%s --help'", cmd->name);
		return -USPL_E_USAGE;
	}
	rc = cli_pid(argv[first], &pid, err);
	return rc ? rc : reader_open(pid, reader, err);
}

int trace_cat(int argc, char **argv, struct uspl_err *err)
{
	bool following = false;
	int depth = 0;
	const struct cli_option table[] = {
		{ 'f', "follow", NULL, CLI_FLAG, &following,
		  "go on printing what comes, until ^C" },
		{ 0, "depth", "N", CLI_INT, &depth, "leave out calls deeper than this" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace cat",
		.synopsis = "[OPTION]... PID",
		.summary = "Prints what was recorded, while the process goes on",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	struct reader reader = { 0 };
	auto_buf struct buf head = { 0 };
	int rc = open_only_pid(&cmd, argc, argv, &reader, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	reader.log.depth = (uint32_t)depth;
	tracer_of(&reader.view.session)->head(&head);
	printf("# tracer: %s, pid %d\n%s", tracer_of(&reader.view.session)->name, reader.log.pid,
	       buf_str(&head));
	if (following) {
		rc = follow(&reader, err);
	} else {
		rc = reader_read(&reader, err);
		if (!rc)
			print_events(&reader);
	}
	if (!rc)
		print_losses(&reader);
	reader_release(&reader);
	return rc;
}

/* What is known of a function. */
struct totals {
	uint32_t id;
	uint64_t calls, total, self, min, max, p99;
};

/* Sorts durations of one function after the other. */
static int by_id_and_duration(const void *a, const void *b)
{
	const struct trace_span *x = *(const struct trace_span *const *)a;
	const struct trace_span *y = *(const struct trace_span *const *)b;
	uint64_t dx = x->record.end - x->record.start, dy = y->record.end - y->record.start;

	if (x->record.id != y->record.id)
		return x->record.id < y->record.id ? -1 : 1;
	return dx < dy ? -1 : dx > dy;
}

static int by_self(const void *a, const void *b)
{
	const struct totals *x = a, *y = b;

	return x->self > y->self ? -1 : x->self < y->self;
}

typedef VEC(struct totals) totals_vec;

/* Adds up the n spans of one function, which are sorted by duration. */
static int add_up(const struct trace_span *const *spans, size_t n, totals_vec *all,
		  struct uspl_err *err)
{
	struct totals *totals = vec_push(all);

	if (!totals)
		return uspl_fail_nomem(err);
	*totals = (struct totals){ .id = spans[0]->record.id, .calls = n };
	for (size_t i = 0; i < n; i++) {
		totals->total += spans[i]->record.end - spans[i]->record.start;
		totals->self += spans[i]->self;
	}
	totals->min = spans[0]->record.end - spans[0]->record.start;
	totals->max = spans[n - 1]->record.end - spans[n - 1]->record.start;
	totals->p99 =
		spans[(n - 1) * 99 / 100]->record.end - spans[(n - 1) * 99 / 100]->record.start;
	return 0;
}

static int sum_all(const struct timeline *timeline, totals_vec *all, struct uspl_err *err)
{
	size_t n = timeline->calls.n, from = 0;
	auto_free const struct trace_span **spans = calloc(n + 1, sizeof(*spans));
	int rc = 0;

	if (!spans)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		spans[i] = &timeline->calls.items[i];
	qsort(spans, n, sizeof(*spans), by_id_and_duration);
	for (size_t i = 1; !rc && n && i <= n; i++) {
		if (i < n && spans[i]->record.id == spans[from]->record.id)
			continue;
		rc = add_up(spans + from, i - from, all, err);
		from = i;
	}
	if (all->n)
		qsort(all->items, all->n, sizeof(*all->items), by_self);
	return rc;
}

static void print_totals(const struct reader *reader, const totals_vec *all)
{
	double us = reader->log.ns_per_tick / 1e3;
	const struct totals *totals;
	char buf[NAME_MAX_LEN];

	printf("%10s %13s %13s %11s %11s %11s %11s  %s\n", "CALLS", "TOTAL us", "SELF us", "MIN us",
	       "AVG us", "P99 us", "MAX us", "FUNCTION");
	vec_for_each (all, totals)
		printf("%10llu %13.3f %13.3f %11.3f %11.3f %11.3f %11.3f  %s\n",
		       (unsigned long long)totals->calls, (double)totals->total * us,
		       (double)totals->self * us, (double)totals->min * us,
		       (double)totals->total * us / (double)totals->calls, (double)totals->p99 * us,
		       (double)totals->max * us,
		       names_of(&reader->names, &reader->view.session, totals->id, buf,
				sizeof(buf)));
}

int trace_report(int argc, char **argv, struct uspl_err *err)
{
	const struct cli_command cmd = {
		.name = "uspl-trace report",
		.synopsis = "PID",
		.summary = "Prints calls and times of each function, by what was recorded",
	};
	struct reader reader = { 0 };
	totals_vec all = { 0 };
	int rc = open_only_pid(&cmd, argc, argv, &reader, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	if (tracer_of(&reader.view.session)->entries)
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "the tracer 'function' records no durations to report on");
	if (!rc)
		rc = reader_read(&reader, err);
	if (!rc)
		rc = sum_all(&reader.timeline, &all, err);
	if (!rc) {
		print_totals(&reader, &all);
		print_losses(&reader);
	}
	vec_release(&all);
	reader_release(&reader);
	return rc;
}
