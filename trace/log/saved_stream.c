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

/* The file has no name any more. */
static int open_part(struct saved_part *part, const char *path, struct uspl_err *err)
{
	auto_free char *name = NULL;

	if (asprintf(&name, "%s.XXXXXX", path) < 0) {
		name = NULL;
		return uspl_fail_nomem(err);
	}
	part->fd = mkostemp(name, O_CLOEXEC);
	if (part->fd < 0)
		return uspl_fail_errno(err, "cannot make a file beside '%s'", path);
	unlink(name);
	return zst_is_name(path) ? zst_new(&part->pack, err) : 0;
}

static void close_part(struct saved_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	zst_free(part->pack);
}

int saved_stream_open(const char *path, struct saved_stream *ret, struct uspl_err *err)
{
	int rc;

	*ret = (struct saved_stream)SAVED_STREAM_NONE;
	rc = open_part(&ret->records, path, err);
	if (rc)
		return rc;
	rc = open_part(&ret->values, path, err);
	if (rc)
		return rc;
	return open_part(&ret->events, path, err);
}

void saved_stream_close(struct saved_stream *stream)
{
	close_part(&stream->records);
	close_part(&stream->values);
	close_part(&stream->events);
	*stream = (struct saved_stream)SAVED_STREAM_NONE;
}

/* Appends bytes to a part, packed if it is; they have n of what is counted. last: it ends here. */
static int put(struct saved_part *part, const struct buf *bytes, uint64_t n, bool last,
	       struct uspl_err *err)
{
	auto_buf struct buf packed = { 0 };
	int rc;

	if (bytes->oom)
		return uspl_fail_nomem(err);
	rc = part->pack ? zst_add(part->pack, bytes->data, bytes->len, last, &packed, err) : 0;
	if (rc)
		return rc;
	if (part->pack)
		bytes = &packed;
	if (file_write_all(part->fd, buf_str(bytes), bytes->len) != 0)
		return uspl_fail_errno(err, "cannot write what was recorded");
	part->n += n;
	return 0;
}

int saved_stream_add(struct saved_stream *stream, const trace_records *records,
		     const struct buf *texts, struct uspl_err *err)
{
	const struct trace_record *record;
	auto_buf struct buf out = { 0 };
	int rc;

	if (stream->values.n + texts->len > UINT32_MAX)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "a trace with more than 4 GiB of arguments and results");
	vec_for_each (records, record) {
		struct trace_record moved = *record;

		moved.args += moved.args ? (uint32_t)stream->values.n : 0;
		moved.result += moved.result ? (uint32_t)stream->values.n : 0;
		saved_put_record(&out, &moved);
	}
	rc = put(&stream->records, &out, records->n, false, err);
	if (rc)
		return rc;
	return put(&stream->values, texts, texts->len, false, err);
}

int saved_stream_add_events(struct saved_stream *stream, const kernel_events *events,
			    struct uspl_err *err)
{
	const struct kernel_event *event;
	auto_buf struct buf out = { 0 };

	vec_for_each (events, event)
		kernel_event_put(&out, event);
	return put(&stream->events, &out, events->n, false, err);
}

/* Copies all of a part behind what is in a file. -1, with errno. */
static int append(int to, const struct saved_part *part)
{
	off_t len = lseek(part->fd, 0, SEEK_END);

	for (off_t at = 0; at < len;) {
		ssize_t n = sendfile(to, part->fd, &at, (size_t)(len - at));

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
	    append(fd, &stream->values) != 0 ||
	    file_write_all(fd, parts->between.data, parts->between.len) != 0 ||
	    append(fd, &stream->records) != 0 ||
	    file_write_all(fd, parts->back.data, parts->back.len) != 0)
		return -1;
	return append(fd, &stream->events);
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

/* The frames of the parts end, and what stands around them is packed. */
static int pack_all(struct saved_stream *stream, struct parts *parts, struct uspl_err *err)
{
	const struct buf none = { 0 };
	int rc = put(&stream->records, &none, 0, true, err);

	if (rc)
		return rc;
	rc = put(&stream->values, &none, 0, true, err);
	if (rc)
		return rc;
	rc = put(&stream->events, &none, 0, true, err);
	if (rc)
		return rc;
	rc = pack(&parts->front, err);
	if (rc)
		return rc;
	rc = pack(&parts->between, err);
	if (rc)
		return rc;
	return pack(&parts->back, err);
}

int saved_stream_write(struct saved_stream *stream, const char *path,
		       const struct trace_saved *saved, struct uspl_err *err)
{
	auto_parts struct parts parts = { .stream = stream };
	int rc;

	saved_put_front(&parts.front, saved);
	saved_put_u64(&parts.front, stream->values.n);
	saved_put_u64(&parts.between, stream->records.n);
	saved_put_back(&parts.back, saved, stream->events.n);
	if (parts.front.oom || parts.between.oom || parts.back.oom)
		return uspl_fail_nomem(err);
	if (stream->records.pack) {
		rc = pack_all(stream, &parts, err);
		if (rc)
			return rc;
	}
	return file_replace(path, write_parts, &parts, err);
}
