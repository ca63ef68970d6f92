// SPDX-License-Identifier: GPL-3.0-or-later
// buf.c - bytes that grow

#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define READ_AT_LEAST 4096

static bool buf_reserve(struct buf *buf, size_t more)
{
	size_t want = buf->cap ? buf->cap : 64;
	char *grown;

	if (buf->oom)
		return false;
	if (more < SIZE_MAX / 4 - buf->len) {
		while (want < buf->len + more + 1)
			want *= 2;
		if (want == buf->cap)
			return true;
		grown = realloc(buf->data, want);
		if (grown) {
			buf->data = grown;
			buf->cap = want;
			return true;
		}
	}
	buf->oom = true;
	return false;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (!buf_reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_addstr(struct buf *buf, const char *str)
{
	buf_add(buf, str, strlen(str));
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || !buf_reserve(buf, (size_t)len))
		return;
	va_start(ap, fmt);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	buf->len += (size_t)len;
}

ssize_t buf_add_read(struct buf *buf, int fd)
{
	ssize_t got;

	if (!buf_reserve(buf, READ_AT_LEAST)) {
		errno = ENOMEM;
		return -1;
	}
	do
		got = read(fd, buf->data + buf->len, buf->cap - buf->len - 1);
	while (got < 0 && errno == EINTR);
	buf->len += got > 0 ? (size_t)got : 0;
	buf->data[buf->len] = '\0';
	return got;
}

void buf_addzero(struct buf *buf, size_t len)
{
	if (!buf_reserve(buf, len))
		return;
	memset(buf->data + buf->len, 0, len + 1);
	buf->len += len;
}

void buf_align(struct buf *buf, size_t align)
{
	size_t rest = buf->len & (align - 1);

	if (rest)
		buf_addzero(buf, align - rest);
}

void buf_add_uleb(struct buf *buf, uint64_t value)
{
	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		byte |= value ? 0x80 : 0;
		buf_add(buf, &byte, 1);
	} while (value);
}

void buf_add_sleb(struct buf *buf, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		byte |= more ? 0x80 : 0;
		buf_add(buf, &byte, 1);
	}
}

void buf_add_shell_word(struct buf *buf, const char *word)
{
	buf_addstr(buf, "'");
	for (; *word; word++) {
		if (*word == '\'')
			buf_addstr(buf, "'\\'");
		buf_add(buf, word, 1);
	}
	buf_addstr(buf, "' ");
}

const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
	char *data = buf->oom ? NULL : buf->data;

	if (buf->oom)
		free(buf->data);
	*buf = (struct buf){ 0 };
	return data;
}

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ 0 };
}
