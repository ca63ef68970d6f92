// SPDX-License-Identifier: GPL-3.0-or-later
// mark_line.c - a hit of a marker with all that is printed of it

#include "trace/log/mark_line.h"

#include <string.h>

#include "base/text.h"

static char *printable(const char *text)
{
	auto_buf struct buf out = { 0 };

	text_add_printable(&out, text, strlen(text), false);
	buf_add(&out, "", 1);
	if (!out.oom)
		return buf_take(&out);
	return NULL;
}

int mark_line_make(const struct mark_reader *reader, const struct mark_record *record,
		   struct mark_line *ret, struct uspl_err *err)
{
	const struct uspl_probe *probe = record->probe;
	auto_buf struct buf message = { 0 };
	int rc;

	*ret = (struct mark_line){ .time = record->time,
				   .tid = record->tid,
				   .n_values = probe->n_args };
	rc = mark_values(reader, record, ret->values, err);
	if (rc)
		return rc;
	message_add(&message, probe->format ? mark_text(record->region, probe->format) : NULL,
		    ret->values, ret->n_values);
	ret->name = printable(mark_text(record->region, probe->name));
	ret->module = printable(mark_text(record->region, record->region->head.module_name));
	ret->message = message.oom ? NULL : printable(buf_str(&message));
	return ret->name && ret->module && ret->message ? 0 : uspl_fail_nomem(err);
}

void mark_line_release(struct mark_line *line)
{
	free(line->name);
	free(line->module);
	free(line->message);
	mark_values_release(line->values);
}

void mark_lines_release(mark_line_vec *lines)
{
	struct mark_line *line;

	vec_for_each (lines, line)
		mark_line_release(line);
	vec_release(lines);
}
