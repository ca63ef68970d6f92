/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_stream.h - records on their way into a saved trace, while more come
 *
 * A saved trace has the number of its records before them, and their values, and so with the
 * kernel's events. Until the numbers are known they lie in three files without a name, beside the
 * one that is to be made: the tool's memory holds no more than one reading.
 */
#ifndef USPL_TRACE_LOG_SAVED_STREAM_H
#define USPL_TRACE_LOG_SAVED_STREAM_H

#include "trace/log/saved.h"
#include "trace/log/zst.h"

/* What lies in a file of its own. */
struct saved_part {
	int fd;
	struct zst *pack; /* of a trace whose name ends with '.zst': what packs it; else NULL */
	uint64_t n;       /* records, bytes of values, events */
};

struct saved_stream {
	struct saved_part records, values, events;
};

#define SAVED_STREAM_NONE                                                                          \
	{                                                                                          \
		.records.fd = -1, .values.fd = -1, .events.fd = -1                                 \
	}

/* Makes the files in the folder of path. saved_stream_close must follow in any case. */
int saved_stream_open(const char *path, struct saved_stream *ret,
		      struct uspl_err *err) uspl_must_check;
void saved_stream_close(struct saved_stream *stream);
DEFINE_AUTO_RELEASE(saved_stream, struct saved_stream, saved_stream_close)
#define auto_saved_stream __attribute__((cleanup(cleanup_saved_stream_)))

/* Appends records with the texts that they refer to. USPL_E_UNSUPPORTED beyond 4 GiB of texts. */
int saved_stream_add(struct saved_stream *stream, const trace_records *records,
		     const struct buf *texts, struct uspl_err *err) uspl_must_check;
/* Appends what the kernel has told. */
int saved_stream_add_events(struct saved_stream *stream, const kernel_events *events,
			    struct uspl_err *err) uspl_must_check;
/*
 * saved_write, with what the stream has in place of the same of `saved`. An older file is replaced
 * when everything is written.
 */
int saved_stream_write(struct saved_stream *stream, const char *path,
		       const struct trace_saved *saved, struct uspl_err *err) uspl_must_check;

#endif
