/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * manifest.h - manifest.json: all of an update but its patch and its code
 *
 * docs/update-format.md says what it holds. The patch and the ELF files are the caller's
 * (update_file.c).
 */
#ifndef USPL_UPDATE_MANIFEST_H
#define USPL_UPDATE_MANIFEST_H

#include "base/buf.h"
#include "update/update.h"

#define MANIFEST_MAX_BYTES (16u << 20)

/*
 * Reads a manifest. USPL_E_FORMAT: of a newer format, for another processor, or with a key that
 * this format doesn't have. USPL_E_FILE: no JSON, a key missing, a value of the wrong type or form.
 * USPL_E_HOSTILE: a redirected function listed twice.
 */
int manifest_read(const char *text, size_t len, struct update **ret,
		  struct uspl_err *err) uspl_must_check;
/*
 * Appends the manifest. USPL_E_UNSUPPORTED: a value that the format can't hold, such as a file name
 * that isn't UTF-8.
 */
int manifest_write(const struct update *update, struct buf *buf,
		   struct uspl_err *err) uspl_must_check;

#endif
