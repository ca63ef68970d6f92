// SPDX-License-Identifier: GPL-3.0-or-later
// save.c - what was recorded goes to a file, or a folder, in one of many forms

#include "trace/cmd/save.h"

#include <string.h>

#include "base/file.h"
#include "trace/cmd/uftrace.h"
#include "trace/log/saved_stream.h"
#include "trace/log/zst.h"
#include "trace/output/ctf.h"
#include "trace/output/formats.h"
#include "trace/output/mark_lines.h"
#include "trace/output/names.h"
#include "trace/output/reader.h"
#include "trace/tracers/tracers.h"

#define NAME_MAX_LEN 512

void save_parts_release(struct save_parts *parts)
{
	struct trace_caller *caller;

	strvec_release(&parts->lines);
	vec_for_each (&parts->callers, caller)
		free(caller->name);
	vec_release(&parts->callers);
}

int save_note(struct reader *reader, struct save_parts *parts, struct uspl_err *err)
{
	const struct trace_record *record;

	while (parts->lines.n < reader->names.by_id.n)
		if (!vec_push(&parts->lines))
			return uspl_fail_nomem(err);
	vec_for_each (&reader->records, record) {
		const char *line;
		char **place;

		if (record->id > parts->lines.n || parts->lines.items[record->id - 1])
			continue;
		place = &parts->lines.items[record->id - 1];
		line = names_line(&reader->names, record->id);
		*place = strdup(line ? line : "");
		if (!*place)
			return uspl_fail_nomem(err);
	}
	return tracer_of(&reader->view.session)->hook->entries
		       ? callers_collect(&reader->records, &parts->callers, err)
		       : 0;
}

/* Where a trace goes. */
struct goal {
	const char *path;
	struct saved_stream *stream; /* has the records; NULL: the reader has them */
	int fd;                      /* if there is no path */
};

static int write_out(struct reader *reader, struct save_parts *parts, const struct goal *goal,
		     struct uspl_err *err)
{
	/* All but the parts is the reader's. */
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
		.lines = parts->lines,
		.records = reader->records,
		.values = reader->values.texts,
		.threads = reader->threads,
		.kernel = reader->kernel,
	};
	auto_mark_lines mark_line_vec made = { 0 };
	struct trace_caller *caller;
	char name[NAME_MAX_LEN];
	int rc;

	vec_for_each (&parts->callers, caller) {
		caller->name =
			strdup(names_of_caller(&reader->names, caller->low, name, sizeof(name)));
		if (!caller->name)
			return uspl_fail_nomem(err);
	}
	saved.callers = parts->callers;
	snprintf(saved.comm, sizeof(saved.comm), "%s", reader->log.comm);
	rc = marks_collect(reader, &made, err);
	if (rc)
		return rc;
	saved.marks = reader_is_file(reader) ? reader->mark_lines : made;
	if (goal->stream)
		return saved_stream_write(goal->stream, goal->path, &saved, err);
	return goal->path ? saved_write(goal->path, &saved, err)
			  : saved_write_fd(goal->fd, &saved, err);
}

int save_finish(struct reader *reader, struct save_parts *parts, struct saved_stream *stream,
		const char *path, struct uspl_err *err)
{
	return write_out(reader, parts, &(struct goal){ path, stream, -1 }, err);
}

int save_into(struct reader *reader, int fd, struct uspl_err *err)
{
	auto_save_parts struct save_parts parts = { 0 };
	int rc = save_note(reader, &parts, err);

	if (rc)
		return rc;
	return write_out(reader, &parts, &(struct goal){ NULL, NULL, fd }, err);
}

static int file_save(struct reader *reader, const char *path, struct uspl_err *err)
{
	auto_save_parts struct save_parts parts = { 0 };
	int rc = save_note(reader, &parts, err);

	if (rc)
		return rc;
	return save_finish(reader, &parts, NULL, path, err);
}

/* A form of what is saved: all that cat prints, and these. */
struct form {
	const char *name;
	bool kernel; /* as of a format */
	int (*save)(struct reader *reader, const char *path, struct uspl_err *err);
};

static const struct form forms[] = {
	{ "uspl", false, file_save },
	{ "uftrace", false, uftrace_write },
	{ "ctf", true, ctf_write },
};

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

void save_prepare(struct reader *reader, const char *name, const char *path)
{
	const struct format *format = name ? NULL : format_by_suffix(path);

	for (size_t i = 0; name && i < ARRAY_SIZE(forms); i++)
		if (!strcmp(name, forms[i].name))
			reader->shows_kernel = forms[i].kernel;
	if (!format && (!name || format_find(name, &format, NULL)))
		return;
	reader->unordered = format->unordered;
	reader->shows_kernel = format->kernel;
}

int save_check_path(const char *name, const char *path, struct uspl_err *err)
{
	int rc = save_check(name, err);

	if (rc || !path || !zst_is_name(path))
		return rc;
	if (name && strcmp(name, forms[0].name) != 0)
		return uspl_fail(err, USPL_E_USAGE, "'.zst' is for the form '%s' only",
				 forms[0].name);
	return zst_load(err);
}

int save_as(struct reader *reader, const char *name, const char *path, struct uspl_err *err)
{
	const struct format *format = name ? NULL : format_by_suffix(path);
	auto_buf struct buf out = { 0 };
	int rc = save_check_path(name, path, err);

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
	if (!format) {
		rc = format_find(name, &format, err);
		if (rc)
			return rc;
	}
	/* What cat would print. */
	rc = format_check(format, reader->tracer, err);
	if (rc)
		return rc;
	if (format->begin)
		format->begin(reader, &out);
	rc = format->body(reader, &out, err);
	if (rc)
		return rc;
	format->end(reader, &out);
	if (out.oom)
		return uspl_fail_nomem(err);
	return path ? file_write(path, out.data, out.len, err) : 0;
}

void save_say(const struct reader *reader, const char *path)
{
	size_t marks = marks_count(reader);

	if (cli_quiet())
		return;
	printf("%s: %zu calls", path, reader->records.n);
	if (marks)
		printf(", %zu hits of markers", marks);
	if (reader->kernel.kinds)
		printf(", %zu events of the kernel", reader->kernel.events.n);
	printf("\n");
}
