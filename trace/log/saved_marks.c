// SPDX-License-Identifier: GPL-3.0-or-later
// saved_marks.c - hits of markers in a saved trace

#include "trace/log/saved_marks.h"

#include <string.h>

static void put_value(struct buf *out, const struct message_value *value)
{
	uint64_t word = value->word;

	saved_put_u32(out, value->kind);
	if (value->kind == USPL_PROBE_TEXT) {
		saved_put_text(out, value->text);
		return;
	}
	if (value->kind == USPL_PROBE_FLOAT)
		memcpy(&word, &value->real, sizeof(word));
	saved_put_u64(out, word);
}

void saved_put_marks(struct buf *out, const mark_line_vec *lines)
{
	const struct mark_line *line;

	saved_put_u64(out, lines->n);
	vec_for_each (lines, line) {
		saved_put_u64(out, line->time);
		saved_put_u32(out, (uint32_t)line->tid);
		saved_put_text(out, line->name);
		saved_put_text(out, line->module);
		saved_put_text(out, line->message);
		saved_put_u32(out, (uint32_t)line->n_values);
		for (size_t i = 0; i < line->n_values; i++)
			put_value(out, &line->values[i]);
	}
}

/* A string as the program had it, which need not be UTF-8. */
static char *get_string(struct saved_cursor *in)
{
	uint32_t len = saved_get_u32(in);
	const char *bytes = (const char *)saved_get(in, len);
	char *text = bytes ? strndup(bytes, len) : NULL;

	if (bytes && !text)
		in->rc = uspl_fail_nomem(in->err);
	return text;
}

static void get_value(struct saved_cursor *in, struct message_value *value)
{
	uint32_t kind = saved_get_u32(in);

	if (kind < USPL_PROBE_SIGNED || kind > USPL_PROBE_TEXT) {
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
		return;
	}
	value->kind = (enum uspl_probe_arg_kind)kind;
	if (kind == USPL_PROBE_TEXT) {
		value->text = get_string(in);
		return;
	}
	value->word = saved_get_u64(in);
	memcpy(&value->real, &value->word, sizeof(value->real));
}

static void get_line(struct saved_cursor *in, struct mark_line *line)
{
	line->time = saved_get_u64(in);
	line->tid = (pid_t)saved_get_u32(in);
	line->name = saved_get_text(in);
	line->module = saved_get_text(in);
	line->message = saved_get_text(in);
	line->n_values = saved_get_u32(in);
	if (line->n_values > USPL_PROBE_ARGS_MAX) {
		line->n_values = 0;
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
	}
	for (size_t i = 0; i < line->n_values && !in->rc; i++)
		get_value(in, &line->values[i]);
}

void saved_get_marks(struct saved_cursor *in, mark_line_vec *lines)
{
	uint64_t n = saved_get_u64(in);

	for (uint64_t i = 0; i < n && !in->rc; i++) {
		struct mark_line *line = saved_get_place(in, lines);

		if (!line)
			return;
		get_line(in, line);
		if (i && line->time < line[-1].time)
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
	}
}
