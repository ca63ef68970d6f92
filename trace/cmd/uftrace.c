// SPDX-License-Identifier: GPL-3.0-or-later
// uftrace.c - what was recorded as a folder that uftrace reads
/*
 * The form is uftrace's data directory (its doc/uftrace-data-format.md, version 4): `uftrace replay
 * -d DIR`, report, graph, dump and tui read it.
 *
 *     info         a header, and lines about the program
 *     task.txt     the session and its threads
 *     sid-*.map    where modules lay
 *     NAME.sym     a module's functions, by their distance from its beginning
 *     TID.dat      16 bytes for each entry and each return of a thread: time in ns; type, depth and
 *                  address
 */

#include "trace/cmd/uftrace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/output/trace_log.h"
#include "trace/tracers/tracers.h"

#define FORMAT_VERSION 4
#define ENTRY 0
#define EXIT 1
#define MAGIC 5
#define DEPTH_MAX 1023
#define FEATURES 0x62 /* sessions in task.txt; relative symbols; the depth of the stack */
#define INFOS 0x89    /* exename, cmdline, taskinfo */
#define SESSION "7573706c00000001"

struct header {
	char magic[8];
	uint32_t version;
	uint16_t len;
	uint8_t endian, class;
	uint64_t features, infos;
	uint16_t max_stack, pad[3];
};

_Static_assert(sizeof(struct header) == 40, "uftrace's header");

/* A thread's events as they stand in its file. */
struct thread_log {
	pid_t tid;
	struct buf events;
};

struct saving {
	const struct reader *reader;
	const char *dir;
	VEC(struct thread_log) threads;
};

static int by_tid(const void *a, const void *b)
{
	const struct thread_log *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void add_event(const struct saving *saving, struct thread_log *log, unsigned type,
		      const struct trace_span *span)
{
	const struct trace_log *trace = &saving->reader->log;
	const struct uspl_trace_region *head = &trace->session->regions.items[0].head;
	const struct trace_region *region;
	const struct uspl_trace_site *site =
		trace_session_site(trace->session, span->record.id, &region);
	uint64_t depth = span->depth > DEPTH_MAX ? DEPTH_MAX : span->depth;
	uint64_t time = type == ENTRY ? span->record.start : span->end;
	double ticks = (double)(int64_t)(time - head->start_ticks);
	uint64_t words[2] = { (uint64_t)head->start_ns + (uint64_t)(ticks * trace->ns_per_tick),
			      type | MAGIC << 3 | depth << 6 | (site ? site->entry : 0) << 16 };

	buf_add(&log->events, words, sizeof(words));
}

static int collect(struct saving *saving, struct uspl_err *err)
{
	const struct timeline *timeline = &saving->reader->timeline;
	const struct trace_event *event;
	const struct trace_span *span;
	struct thread_log *log = NULL;

	/* The threads of the trace: its calls are sorted by them. */
	vec_for_each (&timeline->calls, span) {
		if (log && log->tid == span->record.tid)
			continue;
		log = vec_push(&saving->threads);
		if (!log)
			return uspl_fail_nomem(err);
		log->tid = span->record.tid;
	}
	vec_for_each (&timeline->events, event) {
		const struct thread_log key = {
			.tid = timeline->calls.items[event->call].record.tid
		};

		span = &timeline->calls.items[event->call];
		log = bsearch(&key, saving->threads.items, saving->threads.n, sizeof(key), by_tid);
		if (event->kind != TRACE_LEAVE)
			add_event(saving, log, ENTRY, span);
		if (event->kind != TRACE_ENTER)
			add_event(saving, log, EXIT, span);
		if (log->events.oom)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int write_file(const struct saving *saving, const char *name, const struct buf *content,
		      struct uspl_err *err)
{
	auto_buf struct buf path = { 0 };

	buf_addf(&path, "%s/%s", saving->dir, name);
	if (path.oom || content->oom)
		return uspl_fail_nomem(err);
	return file_write(buf_str(&path), content->data, content->len, err);
}

static const char *program_path(const struct saving *saving)
{
	const struct module *program = module_main(&saving->reader->view.modules);

	return program ? program->path : "?";
}

static int write_info(const struct saving *saving, struct uspl_err *err)
{
	const struct header header = { .magic = "Ftrace!",
				       .version = FORMAT_VERSION,
				       .len = sizeof(header),
				       .endian = 1,
				       .class = 2,
				       .features = FEATURES,
				       .infos = INFOS,
				       .max_stack = DEPTH_MAX + 1 };
	const struct thread_log *log;
	auto_buf struct buf info = { 0 };

	buf_add(&info, &header, sizeof(header));
	buf_addf(&info, "exename:%s\ncmdline:uspl-trace record\n", program_path(saving));
	buf_addf(&info, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", saving->threads.n);
	vec_for_each (&saving->threads, log)
		buf_addf(&info, "%s%d", log == saving->threads.items ? "" : ",", log->tid);
	buf_addstr(&info, "\n");
	return write_file(saving, "info", &info, err);
}

static void add_time(struct buf *out, int64_t ns)
{
	buf_addf(out, "%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
}

static int write_tasks(const struct saving *saving, struct uspl_err *err)
{
	const struct trace_log *trace = &saving->reader->log;
	int64_t start = trace->session->regions.items[0].head.start_ns;
	const struct thread_log *log;
	auto_buf struct buf tasks = { 0 };

	buf_addstr(&tasks, "SESS timestamp=");
	add_time(&tasks, start);
	buf_addf(&tasks, " pid=%d sid=" SESSION " exename=\"%s\"\n", trace->pid,
		 program_path(saving));
	vec_for_each (&saving->threads, log) {
		buf_addstr(&tasks, "TASK timestamp=");
		add_time(&tasks, start);
		buf_addf(&tasks, " tid=%d pid=%d\n", log->tid, trace->pid);
	}
	return write_file(saving, "task.txt", &tasks, err);
}

static int write_map(const struct saving *saving, struct uspl_err *err)
{
	const struct module *module;
	auto_buf struct buf map = { 0 };

	vec_for_each (&saving->reader->view.modules, module)
		if (!module->is_vdso)
			buf_addf(&map, "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:00 0 %s\n",
				 module->start, module->end, module->path);
	/* Where stacks are tells uftrace where the user's addresses end. */
	buf_addstr(&map, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n");
	return write_file(saving, "sid-" SESSION ".map", &map, err);
}

static int by_entry(const void *a, const void *b)
{
	const struct uspl_trace_site *const *x = a, *const *y = b;

	return (*x)->entry < (*y)->entry ? -1 : 1;
}

/* The functions that were traced in one module. */
static int write_symbols(const struct saving *saving, const struct trace_region *region,
			 struct uspl_err *err)
{
	const struct trace_log *log = &saving->reader->log;
	const struct module *module = module_at(&saving->reader->view.modules, region->head.module);
	auto_free const struct uspl_trace_site **sites =
		calloc(region->sites.n + 1, sizeof(*sites));
	auto_buf struct buf text = { 0 }, name = { 0 };
	char unnamed[512];

	if (!sites)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < region->sites.n; i++)
		sites[i] = &region->sites.items[i];
	qsort(sites, region->sites.n, sizeof(*sites), by_entry);
	buf_addf(&text, "# symbols: %zu\n# path name: %s\n", region->sites.n + 1,
		 module ? module->path : region->module_name);
	for (size_t i = 0; i < region->sites.n; i++) {
		uint32_t id = region->head.first_id + (uint32_t)(sites[i] - region->sites.items);

		buf_addf(&text, "%016" PRIx64 " T %s\n", sites[i]->entry - region->head.module,
			 names_of(log->names, id, unnamed, sizeof(unnamed)));
	}
	buf_addf(&text, "%016" PRIx64 " ? __sym_end\n",
		 module ? module->end - module->start : UINT64_MAX);
	buf_addf(&name, "%s.sym", region->module_name);
	return write_file(saving, buf_str(&name), &text, err);
}

static int write_all(struct saving *saving, struct uspl_err *err)
{
	const struct trace_region *region;
	const struct thread_log *log;
	int rc = write_info(saving, err);

	if (rc)
		return rc;
	rc = write_tasks(saving, err);
	if (rc)
		return rc;
	rc = write_map(saving, err);
	if (rc)
		return rc;
	vec_for_each (&saving->reader->view.session.regions, region) {
		rc = write_symbols(saving, region, err);
		if (rc)
			return rc;
	}
	vec_for_each (&saving->threads, log) {
		char name[32];

		snprintf(name, sizeof(name), "%d.dat", log->tid);
		rc = write_file(saving, name, &log->events, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void release(struct saving *saving)
{
	struct thread_log *log;

	vec_for_each (&saving->threads, log)
		buf_release(&log->events);
	vec_release(&saving->threads);
}

DEFINE_AUTO_RELEASE(saving, struct saving, release)
#define auto_saving __attribute__((cleanup(cleanup_saving_)))

int uftrace_write(struct reader *reader, const char *dir, struct uspl_err *err)
{
	auto_saving struct saving saving = { .reader = reader, .dir = dir };
	int rc;

	if (tracer_of(&reader->view.session)->hook->entries)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the tracer 'function' records no returns, which uftrace needs");
	rc = collect(&saving, err);
	if (rc)
		return rc;
	if (mkdir(dir, 0777) != 0)
		return uspl_fail_errno(err, "cannot make the folder '%s'", dir);
	return write_all(&saving, err);
}
