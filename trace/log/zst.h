/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zst.h - zstd, by libzstd, which is loaded when it is needed (base/late.h)
 *
 * What is packed is a frame; frames behind each other are unpacked as one text.
 */
#ifndef USPL_TRACE_LOG_ZST_H
#define USPL_TRACE_LOG_ZST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* A frame while it is made. */
struct zst;

/* True if the name says that the file is packed. */
bool zst_is_name(const char *path);
/* True if the bytes begin as a frame does; 4 are enough. */
bool zst_is_frame(const void *bytes, size_t len);
/*
 * Loads the library: everything else here needs it. USPL_E_UNSUPPORTED: it isn't there. A process
 * that gives up its rights (base/confine.h) must do it before.
 */
int zst_load(struct uspl_err *err) uspl_must_check;

/* Begins one; loads the library. */
int zst_new(struct zst **ret, struct uspl_err *err) uspl_must_check;
/* NULL is fine. What was packed is the caller's. */
void zst_free(struct zst *zst);
/* Packs more, and appends to out what has come of it. last: the frame ends here. */
int zst_add(struct zst *zst, const void *bytes, size_t len, bool last, struct buf *out,
	    struct uspl_err *err) uspl_must_check;
/* A frame of all of it, appended to out. */
int zst_pack(const void *bytes, size_t len, struct buf *out, struct uspl_err *err) uspl_must_check;
/*
 * Appends what is in the frames to out. USPL_E_FILE: it is cut short, or no such thing.
 * USPL_E_HOSTILE: it is more than 4096 times as much, and 64 MiB. name: of the file.
 */
int zst_unpack(const char *name, const void *bytes, size_t len, struct buf *out,
	       struct uspl_err *err) uspl_must_check;

#endif
