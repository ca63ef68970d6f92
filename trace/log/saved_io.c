// SPDX-License-Identifier: GPL-3.0-or-later
// saved_io.c - the numbers and texts that a saved trace is made of

#include "trace/log/saved_io.h"

#include <string.h>

#include "base/text.h"

#define TEXT_MAX 65536u

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

const uint8_t *saved_get(struct saved_cursor *in, uint64_t len)
{
	const uint8_t *at = in->at;

	if (!in->rc && len > (uint64_t)(in->end - in->at))
		saved_fail(in, USPL_E_FILE, "is cut short");
	if (in->rc)
		return NULL;
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
