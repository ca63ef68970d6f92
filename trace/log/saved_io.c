// SPDX-License-Identifier: GPL-3.0-or-later
// saved_io.c - the numbers and texts that a saved trace is made of

#include "trace/log/saved_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define TEXT_MAX 65536u
/* As much of a file is read at once, and more only if somebody wants more in one piece. */
#define PART_LEAST (256u << 10)

void saved_put_u32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof(value));
}

void saved_put_u64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof(value));
}

void saved_put_text(struct buf *out, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	saved_put_u32(out, (uint32_t)len);
	buf_add(out, text, len);
}

void saved_fail(struct saved_cursor *in, enum uspl_code code, const char *why)
{
	if (!in->rc)
		in->rc = uspl_fail(in->err, code, "the trace in '%s' %s", in->name, why);
}

void saved_cursor_open(struct saved_cursor *in, int fd, uint64_t len)
{
	in->at = in->end = NULL;
	in->fd = fd;
	in->behind = len;
}

void saved_cursor_close(struct saved_cursor *in)
{
	free(in->part);
	in->part = NULL;
	in->at = in->end = NULL;
	in->behind = 0;
}

uint64_t saved_left(const struct saved_cursor *in)
{
	return (uint64_t)(in->end - in->at) + in->behind;
}

/* Brings the next len bytes into memory, of which the file has as many. */
static void fill(struct saved_cursor *in, uint64_t len)
{
	size_t have = (size_t)(in->end - in->at), want;

	if (len > in->part_cap) {
		size_t cap = len < PART_LEAST ? PART_LEAST : (size_t)len;
		uint8_t *part = malloc(cap);

		if (!part) {
			in->rc = uspl_fail_nomem(in->err);
			return;
		}
		if (have)
			memcpy(part, in->at, have);
		free(in->part);
		in->part = part;
		in->part_cap = cap;
	} else if (have) {
		memmove(in->part, in->at, have);
	}
	in->at = in->part;
	in->end = in->part + have;
	want = in->part_cap - have < in->behind ? in->part_cap - have : (size_t)in->behind;
	while (want && !in->rc) {
		ssize_t got = read(in->fd, in->part + have, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			in->rc = uspl_fail_errno(in->err, "cannot read '%s'", in->name);
		else if (!got)
			saved_fail(in, USPL_E_FILE, "is cut short");
		if (got <= 0)
			return;
		have += (size_t)got;
		want -= (size_t)got;
		in->behind -= (uint64_t)got;
		in->end += got;
	}
}

const uint8_t *saved_get(struct saved_cursor *in, uint64_t len)
{
	const uint8_t *at;

	if (!in->rc && len > saved_left(in))
		saved_fail(in, USPL_E_FILE, "is cut short");
	if (!in->rc && len > (uint64_t)(in->end - in->at))
		fill(in, len);
	if (in->rc)
		return NULL;
	at = in->at;
	in->at += len;
	return at;
}

uint32_t saved_get_u32(struct saved_cursor *in)
{
	const uint8_t *bytes = saved_get(in, sizeof(uint32_t));
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

uint64_t saved_get_u64(struct saved_cursor *in)
{
	const uint8_t *bytes = saved_get(in, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

char *saved_get_text(struct saved_cursor *in)
{
	uint32_t len = saved_get_u32(in);
	const char *bytes = (const char *)saved_get(in, len);
	char *text;

	if (bytes && (len > TEXT_MAX || !text_is_utf8(bytes, len)))
		saved_fail(in, USPL_E_HOSTILE, "has a text that is none");
	if (in->rc)
		return NULL;
	text = strndup(bytes, len);
	if (!text)
		in->rc = uspl_fail_nomem(in->err);
	return text;
}

char *saved_get_text_or_none(struct saved_cursor *in)
{
	char *text = saved_get_text(in);

	if (text && text[0])
		return text;
	free(text);
	return NULL;
}
