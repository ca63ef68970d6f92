/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_io.h - the numbers and texts that a saved trace is made of
 *
 * Numbers are little endian, a text is its length (4 bytes) and its bytes.
 */
#ifndef USPL_TRACE_LOG_SAVED_IO_H
#define USPL_TRACE_LOG_SAVED_IO_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

/* Append a number; a text, empty for NULL. */
void saved_put_u32(struct buf *out, uint32_t value);
void saved_put_u64(struct buf *out, uint64_t value);
void saved_put_text(struct buf *out, const char *text);

/*
 * What is left to read. The first failure is kept; from then on everything that is read is 0. Of a
 * file (saved_cursor_open) a part is in memory at a time.
 */
struct saved_cursor {
	const uint8_t *at, *end; /* in memory */
	int fd;
	/* Bytes of the file that follow `end`; 0: there is no file, or it has been read. */
	uint64_t behind;
	uint8_t *part;
	size_t part_cap;
	const char *name;
	struct uspl_err *err;
	int rc;
};

/* Notes that the trace `why`, unless something went wrong before. */
void saved_fail(struct saved_cursor *in, enum uspl_code code, const char *why);
/*
 * Reads a file of that length, from where fd is; fd stays the caller's. saved_cursor_close must
 * follow.
 */
void saved_cursor_open(struct saved_cursor *in, int fd, uint64_t len);
void saved_cursor_close(struct saved_cursor *in);
/* How many bytes are left. */
uint64_t saved_left(const struct saved_cursor *in);
/* The next len bytes, good until the next call; NULL if there are no more. */
const uint8_t *saved_get(struct saved_cursor *in, uint64_t len);
uint32_t saved_get_u32(struct saved_cursor *in);
uint64_t saved_get_u64(struct saved_cursor *in);
/* A text of UTF-8, to be freed; NULL after a failure. */
char *saved_get_text(struct saved_cursor *in);
/* The same; NULL for an empty one, too. */
char *saved_get_text_or_none(struct saved_cursor *in);
/* The place for the next item of a list. */
#define saved_get_place(in, vec)                                                                   \
	({                                                                                         \
		__typeof__((vec)->items) place_ = (in)->rc ? NULL : vec_push(vec);                 \
		if (!place_ && !(in)->rc)                                                          \
			(in)->rc = uspl_fail_nomem((in)->err);                                     \
		place_;                                                                            \
	})

#endif
