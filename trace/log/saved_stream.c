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
	*ret = (struct saved_stream)SAVED_STREAM_NONE;
	ret->records = open_nameless(path);
	ret->values = open_nameless(path);
	return ret->records < 0 || ret->values < 0
		       ? uspl_fail_errno(err, "cannot make a file beside '%s'", path)
		       : 0;
}

void saved_stream_close(struct saved_stream *stream)
{
	if (stream->records >= 0)
		close(stream->records);
	if (stream->values >= 0)
		close(stream->values);
	*stream = (struct saved_stream)SAVED_STREAM_NONE;
}

int saved_stream_add(struct saved_stream *stream, const trace_records *records,
		     const struct buf *texts, struct uspl_err *err)
{
	const struct trace_record *record;
	auto_buf struct buf out = { 0 };

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
	if (file_write_all(stream->records, buf_str(&out), out.len) != 0 ||
	    file_write_all(stream->values, buf_str(texts), texts->len) != 0)
		return uspl_fail_errno(err, "cannot write what was recorded");
	stream->n_records += records->n;
	stream->values_len += texts->len;
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

/* What write_parts writes. */
struct parts {
	const struct saved_stream *stream;
	const struct trace_saved *saved;
};

static int write_parts(int fd, const void *what)
{
	const struct parts *parts = what;
	const struct saved_stream *stream = parts->stream;
	const struct trace_saved *saved = parts->saved;
	off_t records_len = lseek(stream->records, 0, SEEK_END);
	auto_buf struct buf front = { 0 }, between = { 0 }, back = { 0 };

	saved_put_front(&front, saved);
	saved_put_u64(&front, stream->values_len);
	saved_put_u64(&between, stream->n_records);
	saved_put_back(&back, saved);
	if (front.oom || between.oom || back.oom) {
		errno = ENOMEM;
		return -1;
	}
	if (file_write_all(fd, front.data, front.len) != 0 ||
	    append(fd, stream->values, (off_t)stream->values_len) != 0 ||
	    file_write_all(fd, between.data, between.len) != 0 ||
	    append(fd, stream->records, records_len) != 0)
		return -1;
	return file_write_all(fd, back.data, back.len);
}

int saved_stream_write(const struct saved_stream *stream, const char *path,
		       const struct trace_saved *saved, struct uspl_err *err)
{
	const struct parts parts = { stream, saved };

	return file_replace(path, write_parts, &parts, err);
}
