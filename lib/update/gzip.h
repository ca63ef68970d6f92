/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip.h - unpacking a gzip file in memory, with its checksum verified and its size limited */
#ifndef USPL_UPDATE_GZIP_H
#define USPL_UPDATE_GZIP_H

#include "base/buf.h"
#include "base/error.h"

/* True if the bytes begin like a gzip file. */
bool gzip_is(const void *data, size_t len);
/*
 * Appends the unpacked bytes to buf. USPL_E_FILE: cut short, damaged, more than one member or
 * anything behind it. USPL_E_HOSTILE: more than `max` bytes come out.
 */
int gzip_unpack(const void *data, size_t len, size_t max, struct buf *buf,
		struct uspl_err *err) uspl_must_check;

#endif
