// SPDX-License-Identifier: GPL-3.0-or-later
// saved_stream.c - records on their way into a saved trace, while more come

#include "trace/log/saved_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/log/saved_io.h"

/* A file that has no name any more. */
static int open_nameless(const char *path)
{
	auto_free char *name = NULL;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", path) < 0) {
		name = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

int saved_stream_open(const char *path, struct saved_stream *ret, struct uspl_err *err)
{
	int rc;

	*ret = (struct saved_stream)SAVED_STREAM_NONE;
	ret->records = open_nameless(path);
	ret->values = open_nameless(path);
	ret->events = open_nameless(path);
	if (ret->records < 0 || ret->values < 0 || ret->events < 0)
		return uspl_fail_errno(err, "cannot make a file beside '%s'", path);
	if (!zst_is_name(path))
		return 0;
	rc = zst_new(&ret->pack_records, err);
	if (!rc)
		rc = zst_new(&ret->pack_values, err);
	return rc ? rc : zst_new(&ret->pack_events, err);
}

void saved_stream_close(struct saved_stream *stream)
{
	if (stream->records >= 0)
		close(stream->records);
	if (stream->values >= 0)
		close(stream->values);
	if (stream->events >= 0)
		close(stream->events);
	zst_free(stream->pack_records);
	zst_free(stream->pack_values);
	zst_free(stream->pack_events);
	*stream = (struct saved_stream)SAVED_STREAM_NONE;
}

/* Appends bytes to one of the files, packed if it is. */
static int put(int fd, struct zst *pack, const struct buf *bytes, struct uspl_err *err)
{
	auto_buf struct buf packed = { 0 };
	int rc = pack ? zst_add(pack, bytes->data, bytes->len, false, &packed, err) : 0;

	if (rc)
		return rc;
	if (pack)
		bytes = &packed;
	return file_write_all(fd, buf_str(bytes), bytes->len) == 0
		       ? 0
		       : uspl_fail_errno(err, "cannot write what was recorded");
}

int saved_stream_add(struct saved_stream *stream, const trace_records *records,
		     const struct buf *texts, struct uspl_err *err)
{
	const struct trace_record *record;
	auto_buf struct buf out = { 0 };
	int rc;

	if (stream->values_len + texts->len > UINT32_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "a trace with more than 4 GiB of arguments and results");
	vec_for_each (records, record) {
		struct trace_record moved = *record;

		moved.args += moved.args ? (uint32_t)stream->values_len : 0;
		moved.result += moved.result ? (uint32_t)stream->values_len : 0;
		saved_put_record(&out, &moved);
	}
	if (out.oom)
		return uspl_fail_nomem(err);
	rc = put(stream->records, stream->pack_records, &out, err);
	if (!rc)
		rc = put(stream->values, stream->pack_values, texts, err);
	if (rc)
		return rc;
	stream->n_records += records->n;
	stream->values_len += texts->len;
	return 0;
}

int saved_stream_add_events(struct saved_stream *stream, const kernel_events *events,
			    struct uspl_err *err)
{
	const struct kernel_event *event;
	auto_buf struct buf out = { 0 };
	int rc;

	vec_for_each (events, event)
		kernel_event_put(&out, event);
	if (out.oom)
		return uspl_fail_nomem(err);
	rc = put(stream->events, stream->pack_events, &out, err);
	if (rc)
		return rc;
	stream->n_events += events->n;
	return 0;
}

/* Copies all of a file behind what is in another one. -1, with errno. */
static int append(int to, int from, off_t len)
{
	for (off_t at = 0; at < len;) {
		ssize_t n = sendfile(to, from, &at, (size_t)(len - at));

		if (n == 0)
			errno = EIO;
		if (n <= 0 && errno != EINTR)
			return -1;
	}
	return 0;
}

/* What write_parts writes: what is before and between the files. */
struct parts {
	const struct saved_stream *stream;
	struct buf front, between, back;
};

static void parts_release(struct parts *parts)
{
	buf_release(&parts->front);
	buf_release(&parts->between);
	buf_release(&parts->back);
}

DEFINE_AUTO_RELEASE(parts, struct parts, parts_release)
#define auto_parts __attribute__((cleanup(cleanup_parts_)))

static int write_parts(int fd, const void *what)
{
	const struct parts *parts = what;
	const struct saved_stream *stream = parts->stream;

	if (file_write_all(fd, parts->front.data, parts->front.len) != 0 ||
	    append(fd, stream->values, lseek(stream->values, 0, SEEK_END)) != 0 ||
	    file_write_all(fd, parts->between.data, parts->between.len) != 0 ||
	    append(fd, stream->records, lseek(stream->records, 0, SEEK_END)) != 0 ||
	    file_write_all(fd, parts->back.data, parts->back.len) != 0)
		return -1;
	return append(fd, stream->events, lseek(stream->events, 0, SEEK_END));
}

/* A frame in place of the bytes. */
static int pack(struct buf *bytes, struct uspl_err *err)
{
	struct buf packed = { 0 };
	int rc = zst_pack(bytes->data, bytes->len, &packed, err);

	buf_release(bytes);
	*bytes = packed;
	return rc;
}

/* The frame of one of the files ends. */
static int end_frame(int fd, struct zst *pack, struct uspl_err *err)
{
	auto_buf struct buf packed = { 0 };
	int rc = zst_add(pack, "", 0, true, &packed, err);

	if (rc)
		return rc;
	return file_write_all(fd, packed.data, packed.len) == 0
		       ? 0
		       : uspl_fail_errno(err, "cannot write what was recorded");
}

static int pack_all(struct saved_stream *stream, struct parts *parts, struct uspl_err *err)
{
	int rc = end_frame(stream->records, stream->pack_records, err);

	if (!rc)
		rc = end_frame(stream->values, stream->pack_values, err);
	if (!rc)
		rc = end_frame(stream->events, stream->pack_events, err);
	if (!rc)
		rc = pack(&parts->front, err);
	if (!rc)
		rc = pack(&parts->between, err);
	return rc ? rc : pack(&parts->back, err);
}

int saved_stream_write(struct saved_stream *stream, const char *path,
		       const struct trace_saved *saved, struct uspl_err *err)
{
	auto_parts struct parts parts = { .stream = stream };
	int rc;

	saved_put_front(&parts.front, saved);
	saved_put_u64(&parts.front, stream->values_len);
	saved_put_u64(&parts.between, stream->n_records);
	saved_put_back(&parts.back, saved, stream->n_events);
	if (parts.front.oom || parts.between.oom || parts.back.oom)
		return uspl_fail_nomem(err);
	rc = stream->pack_records ? pack_all(stream, &parts, err) : 0;
	return rc ? rc : file_replace(path, write_parts, &parts, err);
}
