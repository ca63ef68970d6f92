// SPDX-License-Identifier: GPL-3.0-or-later
// reader.c - what the threads of a traced process have recorded, read and put in order

#include "trace/output/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "proc/hold.h"
#include "proc/remains.h"
#include "trace/engine/clocks.h"
#include "trace/log/last_calls.h"
#include "trace/log/last_trace.h"
#include "trace/log/open_calls.h"
#include "trace/log/values.h"
#include "trace/log/zst.h"
#include "trace/output/json_end.h"
#include "trace/output/look.h"
#include "trace/output/names.h"
#include "trace/output/reader_grow.h"
#include "trace/output/trace_log.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"

void reader_release(struct reader *reader)
{
	timeline_release(&reader->timeline);
	vec_release(&reader->kernel.events);
	vec_release(&reader->records);
	values_release(&reader->values);
	listen_config_release(&reader->config);
	vec_release(&reader->rings);
	mark_reader_release(&reader->marks);
	mark_lines_release(&reader->mark_lines);
	thread_names_release(&reader->threads);
	names_release(&reader->names);
	view_release(&reader->view);
}

/* Where the times that are printed count from: the older one of the two beginnings. */
static struct trace_clocks start_of(const struct reader *reader)
{
	const struct trace_session *session = &reader->view.session;
	const struct uspl_trace_region *head =
		session->regions.n ? &session->regions.items[0].head : &reader->marks.shared;

	if (reader->has_marks && reader->marks.shared.start_ticks < head->start_ticks)
		head = &reader->marks.shared;
	return (struct trace_clocks){ head->start_ticks, head->start_ns };
}

int reader_find_names(struct reader *reader, struct uspl_err *err)
{
	return names_find(reader->view.proc, &reader->view.modules, &reader->view.session,
			  &reader->names, err);
}

int reader_open(pid_t pid, const char *marks, struct reader *reader, struct uspl_err *err)
{
	int rc = (marks ? view_open_any : view_open)(pid, false, &reader->view, err);

	if (rc)
		return rc;
	if (marks) {
		rc = mark_reader_open(&reader->marks, reader->view.proc, marks, err);
		reader->has_marks = !rc;
		if (rc == -USPL_E_NOT_APPLIED && reader->view.session.regions.n)
			rc = 0;
		if (rc == -USPL_E_NOT_APPLIED)
			uspl_fail(err, USPL_E_NOT_APPLIED,
				  "pid %d is not traced, and none of its markers is on%s%s", pid,
				  *marks ? " in session " : "", marks);
		if (rc)
			return rc;
	}
	rc = reader->names_later ? 0 : reader_find_names(reader, err);
	if (rc)
		return rc;
	rc = listen_config_read(reader->view.proc, &reader->view.session, &reader->config, err);
	if (rc)
		return rc;
	reader->log = (struct trace_log){ .pid = pid,
					  .session = &reader->view.session,
					  .names = &reader->names,
					  .start_ticks = start_of(reader).ticks,
					  .timeline = &reader->timeline,
					  .kernel = &reader->kernel,
					  .values = &reader->values.texts };
	snprintf(reader->log.comm, sizeof(reader->log.comm), "%s", reader->view.proc->comm);
	return 0;
}

int reader_hold(struct reader *reader, struct uspl_err *err)
{
	const struct view *view = &reader->view;
	int rc;

	if (!view->session.regions.n)
		return 0;
	rc = hold_memory(view->proc, view->session.regions.items[0].head.rings, err);
	if (rc)
		return rc;
	return hold_files(view->proc, &view->modules, err);
}

/* True if it is over, and what was recorded is held. */
static bool is_held(const struct reader *reader)
{
	const struct proc *proc = reader->view.proc;

	return proc->remains && proc_is_over(proc);
}

bool reader_is_file(const struct reader *reader)
{
	return !reader->view.proc;
}

int reader_open_file(const char *path, struct reader *reader, struct uspl_err *err)
{
	auto_saved struct trace_saved saved = { 0 };
	int rc = saved_read(path, &saved, err);

	if (rc)
		return rc;
	reader->view.modules = saved.modules;
	reader->view.session = saved.session;
	reader->records = saved.records;
	saved.modules = (module_vec){ 0 };
	saved.session = (struct trace_session){ 0 };
	reader->values.texts = saved.values;
	reader->mark_lines = saved.marks;
	saved.marks = (mark_line_vec){ 0 };
	reader->threads = saved.threads;
	saved.threads = (thread_names){ 0 };
	reader->kernel = saved.kernel;
	saved.kernel = (struct kernel_log){ 0 };
	saved.records = (trace_records){ 0 };
	saved.values = (struct buf){ 0 };
	rc = names_take(&saved, &reader->view.modules, &reader->view.session, &reader->names, err);
	reader->log = (struct trace_log){
		.pid = saved.pid,
		.session = &reader->view.session,
		.names = &reader->names,
		.ns_per_tick = saved.ns_per_tick,
		.start_ticks = saved.start_ticks,
		.timeline = &reader->timeline,
		.kernel = &reader->kernel,
		.values = &reader->values.texts,
		.overwritten = saved.overwritten,
		.unseen = saved.unseen,
		.unsure = saved.unsure,
	};
	snprintf(reader->log.comm, sizeof(reader->log.comm), "%s", saved.comm);
	return rc;
}

static int add_ring(struct reader *reader, const struct uspl_trace_region *head, uint64_t number,
		    struct uspl_err *err)
{
	struct trace_ring *ring = vec_push(&reader->rings);

	if (!ring)
		return uspl_fail_nomem(err);
	*ring = (struct trace_ring){ .addr = head->rings + number * head->ring_bytes,
				     .mask = head->ring_mask,
				     .entries = head->entries,
				     .values = reader->config.head.magic ? &reader->values : NULL };
	return 0;
}

/* How many rings threads have taken. Of a process that is over the rings themselves say it. */
static int count_rings(struct reader *reader, const struct uspl_trace_region *head, uint64_t *ret,
		       struct uspl_err *err)
{
	const struct proc *proc = reader->view.proc;
	struct uspl_trace_counters counters;
	struct uspl_trace_ring ring;
	int rc = proc_read(proc, head->counters, &counters, sizeof(counters), err);

	if (!rc) {
		*ret = counters.next_ring < head->n_rings ? counters.next_ring : head->n_rings;
		reader->nowhere = counters.nowhere;
	}
	if (!rc || !is_held(reader))
		return rc;
	*ret = 0;
	for (uint64_t i = 0; i < head->n_rings; i++) {
		rc = proc_read(proc, head->rings + i * head->ring_bytes, &ring, sizeof(ring), err);
		if (rc)
			return rc;
		if (ring.thread)
			*ret = i + 1;
	}
	return 0;
}

/* Rings that threads have taken since the last look. */
static int find_rings(struct reader *reader, const struct uspl_trace_region *head,
		      struct uspl_err *err)
{
	uint64_t n, from = reader->n_threads;
	int rc = count_rings(reader, head, &n, err);

	if (rc)
		return rc;
	reader->n_threads = n;
	reader->log.unseen = reader->nowhere;
	for (uint64_t i = from; i < n; i++) {
		rc = add_ring(reader, head, i, err);
		if (rc)
			return rc;
		/* What was written since a snapshot was taken is in another one. */
		if (head->rings_len >= 2 * head->n_rings * head->ring_bytes) {
			rc = add_ring(reader, head, head->n_rings + i, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Those of the calls which were open that have not ended since. */
static int take_open(struct reader *reader, struct uspl_err *err)
{
	size_t n = reader->records.n;
	const struct trace_record *open;

	vec_for_each (reader->open, open) {
		struct trace_record *place;
		size_t i = 0;

		while (i < n && (reader->records.items[i].start != open->start ||
				 reader->records.items[i].id != open->id))
			i++;
		if (i < n)
			continue;
		place = vec_push(&reader->records);
		if (!place)
			return uspl_fail_nomem(err);
		*place = *open;
	}
	return 0;
}

static int ask_shadows(struct reader *reader, uint64_t now, struct uspl_err *err)
{
	const struct trace_session *session = &reader->view.session;
	struct proc *proc = reader->view.proc;
	size_t from = reader->records.n;
	struct uspl_err why = { 0 };
	int rc;

	if (is_held(reader))
		return last_calls_read(proc, session, now, &reader->records, err);
	rc = open_calls_read(proc, session, now, &reader->records, &why);
	if (rc && is_held(reader)) {
		reader->records.n = from;
		return last_calls_read(proc, session, now, &reader->records, err);
	}
	if (rc && err)
		*err = why;
	return rc;
}

/*
 * Reads the calls that aren't over, where there will be no other reading. This comes after the
 * rings: a call that ends meanwhile isn't there twice. Those that began before the oldest record of
 * their thread may have made calls which were overwritten.
 */
static int read_open(struct reader *reader, struct uspl_err *err)
{
	const struct uspl_listen_config *config = &reader->config.head;
	struct trace_clocks now;
	size_t from;
	int rc;

	if (reader->only_snapshot || (config->magic && config->halted))
		return 0;
	clocks_read(&now);
	from = reader->records.n;
	rc = reader->open ? take_open(reader, err) : ask_shadows(reader, now.ticks, err);
	for (; !rc && from < reader->records.n; from++) {
		struct trace_record *record = &reader->records.items[from];
		const struct trace_ring *ring;

		vec_for_each (&reader->rings, ring)
			record->cut |= ring->tid == record->tid && record->start < ring->oldest;
	}
	return rc;
}

static int find_and_read(struct reader *reader, struct uspl_err *err)
{
	struct trace_ring *ring;
	int rc;

	if (reader->view.session.regions.n) {
		rc = find_rings(reader, &reader->view.session.regions.items[0].head, err);
		if (rc)
			return rc;
	}
	vec_for_each (&reader->rings, ring) {
		ring->last = !reader->follows;
		rc = ring_read(reader->view.proc, ring, &reader->records, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * What the kernel has told until now. This comes after the rings: of a call that has returned all
 * is known. A process that is over has no more to come, though its rings can't be read.
 */
static int read_kernel(struct reader *reader, struct uspl_err *err)
{
	const struct kernel_source *source = &reader->kernel_source;

	if (!source->read)
		return 0;
	reader->kernel.events.n = 0;
	return source->read(source->ctx, !reader->follows || proc_is_over(reader->view.proc),
			    &reader->kernel, err);
}

static int put_in_order(struct reader *reader, struct uspl_err *err)
{
	if (reader->unordered)
		return 0;
	return timeline_make(&reader->records, reader->shows_kernel ? &reader->kernel.events : NULL,
			     &reader->timeline, err);
}

/* Calls of functions. */
static int read_calls(struct reader *reader, struct uspl_err *err)
{
	const struct trace_record *record;
	const struct trace_ring *ring;
	size_t n = 0;
	int rc, kernel_rc;

	reader->records.n = 0;
	reader->log.overwritten = reader->log.unseen = reader->log.unsure = 0;
	rc = find_and_read(reader, err);
	kernel_rc = read_kernel(reader, rc ? NULL : err);
	vec_for_each (&reader->rings, ring) {
		reader->log.overwritten += ring->overwritten;
		reader->log.unseen += ring->unseen;
		reader->log.unsure += ring->unsure;
	}
	timeline_release(&reader->timeline);
	if (rc)
		return rc;
	if (kernel_rc)
		return kernel_rc;
	if (!reader->follows) {
		rc = read_open(reader, err);
		if (rc)
			return rc;
	}
	rc = reader_grow(reader, err);
	if (rc)
		return rc;
	rc = values_attach(&reader->values, &reader->config, &reader->records, err);
	if (rc)
		return rc;
	if (reader->only_snapshot) {
		/* Keeps what had been recorded when the snapshot was taken. */
		vec_for_each (&reader->records, record)
			if ((record->end ? record->end : record->start) <=
			    reader->config.head.snap_at)
				reader->records.items[n++] = *record;
		reader->records.n = n;
	}
	return put_in_order(reader, err);
}

static int read_new(struct reader *reader, struct uspl_err *err)
{
	int rc = read_calls(reader, err);

	if (rc)
		return rc;
	if (reader->has_marks) {
		rc = mark_reader_read(&reader->marks, err);
		reader->log.overwritten += reader->marks.overwritten;
		reader->log.unseen += reader->marks.nowhere;
		if (rc)
			return rc;
	}
	if ((reader->unordered && reader->follows && reader->threads.n) || is_held(reader))
		return 0;
	return thread_names_read(reader->view.proc, &reader->threads, err);
}

int reader_read(struct reader *reader, struct uspl_err *err)
{
	struct trace_clocks start, now;
	int rc;

	if (reader_is_file(reader))
		return put_in_order(reader, err);
	start = start_of(reader);
	rc = read_new(reader, err);
	clocks_read(&now);
	reader->log.ns_per_tick = clocks_ns_per_tick(&start, &now);
	return rc;
}

void reader_add_losses(const struct reader *reader, struct buf *out)
{
	const struct trace_session *session = &reader->view.session;
	const struct trace_region *region;
	auto_buf struct buf cuts = { 0 };

	if (reader->log.overwritten)
		buf_addf(out, "# %llu older records were overwritten before they were read\n",
			 (unsigned long long)reader->log.overwritten);
	if (reader->log.unseen)
		buf_addf(out, "# %llu calls could not be recorded\n",
			 (unsigned long long)reader->log.unseen);
	if (reader->log.unsure)
		buf_addf(out, "# %llu calls were being recorded when this was read\n",
			 (unsigned long long)reader->log.unsure);
	if (reader->kernel.lost)
		buf_addf(out, "# %llu notes of the kernel could not be kept\n",
			 (unsigned long long)reader->kernel.lost);
	/* Libraries that weren't there from the beginning on. */
	vec_for_each (&session->regions, region) {
		uint64_t ticks =
			region->head.start_ticks - session->regions.items[0].head.start_ticks;

		if (ticks)
			buf_addf(out,
				 "# '%s' was opened later: its calls are recorded from %.6f s on\n",
				 region->module_name,
				 (double)ticks * reader->log.ns_per_tick / 1e9);
	}
	if (mark_cuts_add(&reader->marks.cuts, &cuts))
		buf_addf(out, "# %s\n", buf_str(&cuts));
}

void reader_print_losses(const struct reader *reader, FILE *to)
{
	auto_buf struct buf losses = { 0 };

	reader_add_losses(reader, &losses);
	fputs(buf_str(&losses), to);
}

const char *reader_thread_name(const struct reader *reader, pid_t tid)
{
	const struct thread_name *thread;

	vec_for_each (&reader->threads, thread)
		if (thread->tid == tid)
			return thread->name;
	return reader->log.comm;
}

void reader_add_json_end(const struct reader *reader, struct buf *out)
{
	json_end_add(reader->tracer->name, reader->log.pid,
		     &(struct json_losses){ reader->log.overwritten,
					    reader->log.unseen + reader->kernel.lost,
					    reader->marks.cuts.runs, reader->marks.cuts.passed },
		     out);
}

/* The trace that the keeper of a process which is over has saved; rc: why there is no other. */
static int open_last(pid_t pid, int rc, struct reader *reader, struct uspl_err *err)
{
	auto_free char *path = NULL;

	if (last_trace_find(pid, &path, NULL))
		return rc;
	if (rc == -USPL_E_NOT_APPLIED)
		fprintf(stderr,
			"uspl-trace: note: pid %d is not traced; this is of an older process with "
			"that pid, or of what it ran before\n",
			pid);
	reader_release(reader);
	*reader = (struct reader){ 0 };
	return reader_open_file(path, reader, err);
}

/* For files that are packed: a library can't be loaded later (look.h). */
static void load_unpacker(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		auto_close int fd = open(argv[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		char bytes[4];

		/* Where it isn't there, the reading says so. */
		if (zst_is_name(argv[i]) ||
		    (fd >= 0 && read(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
		     zst_is_frame(bytes, sizeof(bytes)))) {
			(void)!zst_load(NULL);
			return;
		}
	}
}

int reader_open_operand(const struct cli_command *cmd, int argc, char **argv,
			const struct reader_wish *wish, struct reader *reader, struct uspl_err *err)
{
	int first, rc = cli_parse(cmd, argc, argv, &first, err);
	pid_t pid;

	if (rc)
		return rc;
	if (argc - first != 1) {
		uspl_fail(err, USPL_E_USAGE,
			  first == argc ? "no pid and no file given"
					: "more than one pid or file given");
		uspl_hint(err, "try '%s --help'", cmd->name);
		return -USPL_E_USAGE;
	}
	load_unpacker(argc, argv);
	if (!(wish->does_more && *wish->does_more) && !(wish->kernel && *wish->kernel))
		look_only();
	if (argv[first][strspn(argv[first], "0123456789")])
		return reader_open_file(argv[first], reader, err);
	rc = cli_pid(argv[first], &pid, err);
	if (rc)
		return rc;
	if (wish->ret_pid)
		*wish->ret_pid = pid;
	rc = reader_open(pid, wish->marks ? *wish->marks : NULL, reader, err);
	if (wish->goes_on && *wish->goes_on > 0)
		return rc;
	return last_trace_may_be(rc) && (!wish->marks || !**wish->marks)
		       ? open_last(pid, rc, reader, err)
		       : rc;
}
