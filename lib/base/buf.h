/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * buf.h - bytes that grow
 *
 * Running out of memory is sticky: a failed add sets `oom` and every later add does nothing, so
 * that a run of adds is checked once, at its end. `data` is always followed by a NUL that `len`
 * doesn't count.
 */
#ifndef USPL_BASE_BUF_H
#define USPL_BASE_BUF_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "base/types.h"

struct buf {
	char *data; /* NULL while empty */
	size_t len, cap;
	bool oom;
};

/* Appends bytes. */
void buf_add(struct buf *buf, const void *data, size_t len);
/* Appends a string without its NUL. */
void buf_addstr(struct buf *buf, const char *str);
/* Appends formatted text. */
void buf_addf(struct buf *buf, const char *fmt, ...) uspl_printf(2, 3);
/*
 * Appends what one read(2) of fd gives, at most what there is room for; it makes room first.
 * Returns what read does: the number of bytes, 0 at the end, -1 with errno set (ENOMEM without
 * memory; `oom` is set, too).
 */
ssize_t buf_add_read(struct buf *buf, int fd);
/* Appends zero bytes until len is a multiple of align (a power of two). */
void buf_align(struct buf *buf, size_t align);
/* Appends len zero bytes. */
void buf_addzero(struct buf *buf, size_t len);
/* Appends a number as DWARF has it (DWARF 5, 7.6): in groups of 7 bits, the lowest first. */
void buf_add_uleb(struct buf *buf, uint64_t value);
void buf_add_sleb(struct buf *buf, int64_t value);
/* Appends a word, quoted so that a shell (POSIX 2.2.2) takes it as it is, and a blank. */
void buf_add_shell_word(struct buf *buf, const char *word);
/* The text so far, "" while empty. Owned by buf. */
const char *buf_str(const struct buf *buf);
/*
 * Hands the bytes to the caller, who frees them; buf is empty afterwards. NULL if it was empty or
 * out of memory.
 */
char *buf_take(struct buf *buf);
/* Frees the bytes. */
void buf_release(struct buf *buf);

DEFINE_AUTO_RELEASE(buf, struct buf, buf_release)
#define auto_buf __attribute__((cleanup(cleanup_buf_)))

#endif
