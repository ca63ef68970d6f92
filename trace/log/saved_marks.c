// SPDX-License-Identifier: GPL-3.0-or-later
// saved_marks.c - hits of markers in a saved trace

#include "trace/log/saved_marks.h"

#include <string.h>

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
		for (size_t i = 0; i < line->n_values; i++) {
			const struct message_value *value = &line->values[i];
			uint64_t word = value->word;

			saved_put_u32(out, value->kind);
			if (value->kind == USPL_PROBE_TEXT) {
				saved_put_text(out, value->text);
				continue;
			}
			if (value->kind == USPL_PROBE_FLOAT)
				memcpy(&word, &value->real, sizeof(word));
			saved_put_u64(out, word);
		}
	}
}

static void get_value(struct saved_cursor *in, struct message_value *value)
{
	uint32_t kind = saved_get_u32(in), len;
	const char *bytes;

	if (kind < USPL_PROBE_SIGNED || kind > USPL_PROBE_TEXT) {
		saved_fail(in, USPL_E_HOSTILE, "is damaged");
		return;
	}
	value->kind = (enum uspl_probe_arg_kind)kind;
	if (kind == USPL_PROBE_TEXT) {
		/* As the program had it, which need not be UTF-8. */
		len = saved_get_u32(in);
		bytes = (const char *)saved_get(in, len);
		value->text = bytes ? strndup(bytes, len) : NULL;
		if (bytes && !value->text)
			in->rc = uspl_fail_nomem(in->err);
		return;
	}
	value->word = saved_get_u64(in);
	memcpy(&value->real, &value->word, sizeof(value->real));
}

void saved_get_marks(struct saved_cursor *in, mark_line_vec *lines)
{
	uint64_t n = saved_get_u64(in);

	for (uint64_t i = 0; i < n && !in->rc; i++) {
		struct mark_line *line = saved_get_place(in, lines);

		if (!line)
			return;
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
		for (size_t k = 0; k < line->n_values && !in->rc; k++)
			get_value(in, &line->values[k]);
		if (i && line->time < line[-1].time)
			saved_fail(in, USPL_E_HOSTILE, "is damaged");
	}
}
