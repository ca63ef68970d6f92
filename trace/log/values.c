// SPDX-License-Identifier: GPL-3.0-or-later
// values.c - what calls were made with and returned, as listeners have recorded it

#include "trace/log/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/*
 * Values kept of calls that have not returned, or never will: longjmp, a call shorter than the
 * threshold.
 */
#define WAITING_MAX 65536

/* A record's bytes while they are read. */
struct cursor {
	const uint8_t *at, *end;
};

static uint64_t get(struct cursor *in, size_t len)
{
	uint64_t value = 0;

	if ((size_t)(in->end - in->at) < len) {
		in->at = in->end;
		return 0;
	}
	memcpy(&value, in->at, len);
	in->at += len;
	return value;
}

static void add(struct buf *out, enum value_sort sort, const char *name, const char *text)
{
	char head = (char)sort;

	buf_add(out, &head, 1);
	buf_add(out, name, strlen(name) + 1);
	buf_add(out, text, strlen(text) + 1);
}

/* As few digits as tell it from all others. */
static void add_real(struct buf *out, const char *name, uint64_t word, unsigned width)
{
	char text[64];
	double real;
	float small;

	if (width == sizeof(small)) {
		memcpy(&small, &word, sizeof(small));
		for (int digits = 6; digits <= 9; digits++) {
			snprintf(text, sizeof(text), "%.*g", digits, (double)small);
			if (strtof(text, NULL) == small)
				break;
		}
	} else {
		memcpy(&real, &word, sizeof(real));
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(text, sizeof(text), "%.*g", digits, real);
			if (strtod(text, NULL) == real)
				break;
		}
	}
	add(out, VALUE_REAL, name, text);
}

/* The name that "RED=0,GREEN=1" has for a number; false if it has none. */
static bool find_name(const char *names, int64_t number, char *ret, size_t len)
{
	while (*names) {
		size_t n = strcspn(names, ","), eq = strcspn(names, "=");

		if (eq < n && strtoll(names + eq + 1, NULL, 10) == number) {
			snprintf(ret, len, "%.*s", (int)eq, names);
			return true;
		}
		names += n + (names[n] == ',');
	}
	return false;
}

static void add_whole(struct buf *out, const char *name, uint64_t word,
		      const struct uspl_listen_arg *arg, const char *names)
{
	unsigned shift = arg->width && arg->width < 8 ? 64 - 8 * arg->width : 0;
	int64_t number = (int64_t)(word << shift) >> shift;
	char text[128];

	if (arg->kind != USPL_PROBE_SIGNED && arg->width < 8)
		number &= (int64_t)((1ull << 8 * arg->width) - 1);
	if (*names && find_name(names, number, text, sizeof(text))) {
		add(out, VALUE_WORD, name, text);
		return;
	}
	snprintf(text, sizeof(text), arg->kind == USPL_PROBE_SIGNED ? "%" PRId64 : "%" PRIu64,
		 number);
	add(out, VALUE_NUMBER, name, text);
}

static void add_address(struct buf *out, const char *name, uint64_t word)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, word);
	add(out, VALUE_WORD, name, word ? text : "NULL");
}

static void add_text(struct buf *out, const char *name, struct cursor *in)
{
	auto_buf struct buf shown = { 0 };
	uint8_t sign = (uint8_t)get(in, 1);
	size_t len = sign & ~USPL_LISTEN_TEXT_CUT & 0xff, left = (size_t)(in->end - in->at);

	if (sign == USPL_LISTEN_TEXT_GONE) {
		add_address(out, name, get(in, sizeof(uint64_t)));
		return;
	}
	if (len > left)
		len = left;
	text_add_printable(&shown, (const char *)in->at, len, false);
	if (sign & USPL_LISTEN_TEXT_CUT)
		buf_addstr(&shown, "...");
	in->at += len;
	out->oom |= shown.oom;
	add(out, VALUE_TEXT, name, buf_str(&shown));
}

static void add_value(struct buf *out, const struct listen_config *config,
		      const struct uspl_listen_arg *arg, struct cursor *in)
{
	const char *name = listen_config_text(config, arg->name);
	uint64_t word;

	if (arg->kind == USPL_PROBE_TEXT) {
		add_text(out, name, in);
		return;
	}
	word = get(in, sizeof(word));
	if (arg->from == USPL_LISTEN_NOWHERE)
		add(out, VALUE_WORD, name, "?");
	else if (!arg->kind)
		add(out, VALUE_WORD, name, "{...}");
	else if (arg->kind == USPL_PROBE_POINTER)
		add_address(out, name, word);
	else if (arg->kind == USPL_PROBE_FLOAT)
		add_real(out, name, word, arg->width);
	else
		add_whole(out, name, word, arg, listen_config_text(config, arg->type));
}

/* Appends the record's values; returns where they begin, 0 if the function isn't known. */
static uint32_t add_values(struct trace_values *values, const struct listen_config *config,
			   const struct trace_value_record *record)
{
	const struct uspl_listen_site *site = listen_config_site(config, record->id);
	const uint8_t *bytes = (const uint8_t *)values->bytes.data + record->at;
	struct cursor in = { bytes, bytes + record->len };
	struct buf *out = &values->texts;
	uint32_t at;

	if (!site || values->bytes.oom || (record->result && !site->has_result) ||
	    out->len > UINT32_MAX / 2)
		return 0;
	if (!out->len)
		buf_addzero(out, 1);
	at = (uint32_t)out->len;
	if (record->result)
		add_value(out, config, &site->result, &in);
	else
		for (size_t i = 0; i < site->n_args; i++)
			add_value(out, config, &site->args[i], &in);
	buf_addzero(out, 1);
	return at;
}

static int by_call(const void *a, const void *b)
{
	const struct trace_value_record *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->result - y->result;
}

/* True if a value belongs to an earlier call than this. */
static bool is_before(const struct trace_value_record *value, const struct trace_record *call)
{
	struct trace_value_record key = { .tid = call->tid, .start = call->start, .id = call->id };

	return by_call(value, &key) < 0;
}

/* Keeps what no call has taken, the youngest of it, and its bytes. */
static void keep_rest(struct trace_values *values)
{
	struct buf bytes = { 0 };
	size_t n = 0, left = 0;
	struct trace_value_record *record;

	vec_for_each (&values->records, record)
		left += !record->taken;
	vec_for_each (&values->records, record) {
		size_t at = bytes.len;

		if (record->taken || left-- > WAITING_MAX)
			continue;
		buf_add(&bytes, values->bytes.data + record->at, record->len);
		record->at = (uint32_t)at;
		values->records.items[n++] = *record;
	}
	values->records.n = n;
	buf_release(&values->bytes);
	values->bytes = bytes;
}

int values_attach(struct trace_values *values, const struct listen_config *config,
		  trace_records *records, struct uspl_err *err)
{
	struct trace_record *call;

	buf_release(&values->texts);
	if (!values->records.n)
		return 0;
	if (values->bytes.oom)
		return uspl_fail_nomem(err);
	qsort(values->records.items, values->records.n, sizeof(*values->records.items), by_call);
	vec_for_each (records, call) {
		size_t i = vec_lower_bound(&values->records, it, is_before(it, call));

		for (; i < values->records.n; i++) {
			struct trace_value_record *value = &values->records.items[i];

			if (value->tid != call->tid || value->start != call->start ||
			    value->id != call->id)
				break;
			*(value->result ? &call->result : &call->args) =
				add_values(values, config, value);
			value->taken = true;
		}
	}
	keep_rest(values);
	return values->texts.oom || values->bytes.oom ? uspl_fail_nomem(err) : 0;
}

void values_release(struct trace_values *values)
{
	vec_release(&values->records);
	buf_release(&values->bytes);
	buf_release(&values->texts);
}

bool value_next(const char **at, struct value *ret)
{
	const char *from = *at;

	if (!*from)
		return false;
	ret->sort = (enum value_sort) * from++;
	ret->name = from;
	ret->text = from + strlen(from) + 1;
	*at = ret->text + strlen(ret->text) + 1;
	return true;
}

bool values_are_sound(const struct buf *texts, uint32_t offset)
{
	const char *at = texts->data + offset, *end = texts->data + texts->len;

	if (!offset || offset >= texts->len)
		return !offset;
	while (at < end && *at) {
		for (int i = 0; i < 2; i++) {
			const char *text = at + !i, *nul;

			nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
			if (!nul || !text_is_utf8(text, (size_t)(nul - text)))
				return false;
			at = nul + 1;
		}
	}
	return at < end;
}
