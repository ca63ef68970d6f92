// SPDX-License-Identifier: GPL-3.0-or-later
// save.c - what was recorded goes to a file, or a folder, in one of many forms

#include "trace/cmd/save.h"

#include <string.h>

#include "base/file.h"
#include "trace/cmd/ctf.h"
#include "trace/cmd/uftrace.h"
#include "trace/output/formats.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 512

/* The callers with their names, which only the process can tell. */
static int name_callers(struct reader *reader, trace_callers *callers, struct uspl_err *err)
{
	struct trace_caller *caller;
	char name[NAME_MAX_LEN];
	int rc = 0;

	if (tracer_of(&reader->view.session)->hook->entries) {
		rc = callers_collect(&reader->records, callers, err);
		if (rc)
			return rc;
	}
	vec_for_each (callers, caller) {
		caller->name =
			strdup(names_of_caller(&reader->names, caller->low, name, sizeof(name)));
		if (!caller->name) {
			rc = uspl_fail_nomem(err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Where the functions that were called are in the source, as far as the process's files tell. */
static int find_lines(struct reader *reader, trace_strings *lines, struct uspl_err *err)
{
	const struct trace_record *record;
	const char *line;

	for (size_t i = 0; i < reader->names.by_id.n; i++)
		if (!vec_push(lines))
			return uspl_fail_nomem(err);
	vec_for_each (&reader->records, record) {
		if (record->id > lines->n || lines->items[record->id - 1])
			continue;
		line = names_line(&reader->names, record->id);
		lines->items[record->id - 1] = strdup(line ? line : "");
		if (!lines->items[record->id - 1])
			return uspl_fail_nomem(err);
	}
	return 0;
}

static void lines_release(trace_strings *lines)
{
	char **line;

	vec_for_each (lines, line)
		free(*line);
	vec_release(lines);
}

DEFINE_AUTO_RELEASE(lines, trace_strings, lines_release)
#define auto_lines __attribute__((cleanup(cleanup_lines_)))

static void callers_release(trace_callers *callers)
{
	struct trace_caller *caller;

	vec_for_each (callers, caller)
		free(caller->name);
	vec_release(callers);
}

DEFINE_AUTO_RELEASE(callers, trace_callers, callers_release)
#define auto_callers __attribute__((cleanup(cleanup_callers_)))

static int file_save(struct reader *reader, const char *path, struct uspl_err *err)
{
	/* All but the callers is the reader's. */
	struct trace_saved saved = {
		.pid = reader->log.pid,
		.ns_per_tick = reader->log.ns_per_tick,
		.start_ticks = reader->log.start_ticks,
		.overwritten = reader->log.overwritten,
		.unseen = reader->log.unseen,
		.unsure = reader->log.unsure,
		.modules = reader->view.modules,
		.session = reader->view.session,
		.names = reader->names.by_id,
		.records = reader->records,
		.values = reader->values.texts,
		.threads = reader->threads,
	};
	auto_callers trace_callers callers = { 0 };
	auto_lines trace_strings lines = { 0 };
	auto_mark_lines mark_line_vec made = { 0 };
	int rc = name_callers(reader, &callers, err);

	if (rc)
		return rc;
	saved.callers = callers;
	rc = find_lines(reader, &lines, err);
	if (rc)
		return rc;
	saved.lines = lines;
	snprintf(saved.comm, sizeof(saved.comm), "%s", reader->log.comm);
	rc = marks_collect(reader, &made, err);
	if (rc)
		return rc;
	saved.marks = reader_is_file(reader) ? reader->mark_lines : made;
	return saved_write(path, &saved, err);
}

/* A form of what is saved: all that cat prints, and these. */
struct form {
	const char *name;
	int (*save)(struct reader *reader, const char *path, struct uspl_err *err);
};

static const struct form forms[] = {
	{ "uspl", file_save },
	{ "uftrace", uftrace_write },
	{ "ctf", ctf_write },
};

/* What cat would print. */
static int print_into(struct reader *reader, const struct format *format, const char *path,
		      struct uspl_err *err)
{
	auto_buf struct buf out = { 0 };
	int rc = format_check(format, reader->tracer, err);

	if (rc)
		return rc;
	if (format->begin)
		format->begin(reader, &out);
	rc = format->body(reader, &out, err);
	if (rc)
		return rc;
	format->end(reader, &out);
	return out.oom ? uspl_fail_nomem(err) : file_write(path, out.data, out.len, err);
}

int save_check(const char *name, struct uspl_err *err)
{
	const struct format *format;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (!name || !strcmp(name, forms[i].name))
			return 0;
	if (!format_find(name, &format, NULL))
		return 0;
	uspl_fail(err, USPL_E_USAGE, "there is no format '%s' to save in", name);
	uspl_hint(err, "there are 'uspl', 'uftrace', 'ctf', and those of 'uspl-trace cat'");
	return -USPL_E_USAGE;
}

int save_as(struct reader *reader, const char *name, const char *path, struct uspl_err *err)
{
	const struct format *format = name ? NULL : format_by_suffix(path);
	int rc = save_check(name, err);

	if (rc)
		return rc;
	reader->tracer = tracer_of(&reader->view.session);
	for (size_t i = 0; i < ARRAY_SIZE(forms) && !format; i++) {
		if (strcmp(name ? name : forms[0].name, forms[i].name) != 0)
			continue;
		rc = forms[i].save(reader, path, err);
		if (!rc)
			reader_print_losses(reader, stderr);
		return rc;
	}
	rc = format ? 0 : format_find(name, &format, err);
	return rc ? rc : print_into(reader, format, path, err);
}

void save_say(const struct reader *reader, const char *path)
{
	size_t marks = marks_count(reader);

	if (cli_quiet())
		return;
	printf("%s: %zu calls", path, reader->timeline.calls.n);
	if (marks)
		printf(", %zu hits of markers", marks);
	printf("\n");
}
