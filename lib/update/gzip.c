// SPDX-License-Identifier: GPL-3.0-or-later
// gzip.c - unpacking a gzip file in memory, with its checksum verified and its size limited
/*
 * libarchive unpacks, but it doesn't look at the checksum and the length that a gzip file ends with
 * (RFC 1952, 2.3.1). A flipped bit would go through it unnoticed, and become code in a process. So
 * the whole is unpacked first, the trailer compared, and only then is any byte of it looked at.
 */
#include "update/gzip.h"

#include <archive.h>
#include <endian.h>
#include <string.h>

enum { HEADER_SIZE = 10, TRAILER_SIZE = 8 };

bool gzip_is(const void *data, size_t len)
{
	return len >= 2 && !memcmp(data, "\x1f\x8b", 2);
}

/* The CRC of RFC 1952, section 8. */
static uint32_t crc32_of(const char *data, size_t len)
{
	uint32_t table[256], crc = ~0u;

	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	for (size_t i = 0; i < len; i++)
		crc = table[(crc ^ (unsigned char)data[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static uint32_t little_endian(const char *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return le32toh(value);
}

static int inflate(struct archive *reader, size_t max, struct buf *buf, struct uspl_err *err)
{
	struct archive_entry *entry;
	char chunk[16384];
	la_ssize_t got;

	if (archive_read_next_header(reader, &entry) != ARCHIVE_OK)
		return uspl_fail(err, USPL_E_FILE, "it is damaged or cut short");
	while ((got = archive_read_data(reader, chunk, sizeof(chunk))) > 0) {
		if (buf->len + (size_t)got > max)
			return uspl_fail(err, USPL_E_HOSTILE, "it unpacks to more than %zu MiB",
					 max >> 20);
		buf_add(buf, chunk, (size_t)got);
	}
	if (got < 0)
		return uspl_fail(err, USPL_E_FILE, "it is damaged or cut short");
	return buf->oom ? uspl_fail_nomem(err) : 0;
}

int gzip_unpack(const void *data, size_t len, size_t max, struct buf *buf, struct uspl_err *err)
{
	const char *trailer;
	auto_buf struct buf out = { 0 };
	struct archive *reader;
	int rc;

	if (len < HEADER_SIZE + TRAILER_SIZE)
		return uspl_fail(err, USPL_E_FILE, "it is cut short");
	reader = archive_read_new();
	if (!reader)
		return uspl_fail_nomem(err);
	if (archive_read_support_filter_gzip(reader) == ARCHIVE_OK &&
	    archive_read_support_format_raw(reader) == ARCHIVE_OK &&
	    archive_read_open_memory(reader, data, len) == ARCHIVE_OK)
		rc = inflate(reader, max, &out, err);
	else
		rc = uspl_fail(err, USPL_E_FILE, "it is damaged or cut short");
	archive_read_free(reader);
	if (rc)
		return rc;
	trailer = (const char *)data + len - TRAILER_SIZE;
	if (crc32_of(buf_str(&out), out.len) != little_endian(trailer) ||
	    (uint32_t)out.len != little_endian(trailer + 4))
		return uspl_fail(err, USPL_E_FILE,
				 "it is damaged or cut short: its checksum is wrong");
	buf_add(buf, out.data, out.len);
	return buf->oom ? uspl_fail_nomem(err) : 0;
}
