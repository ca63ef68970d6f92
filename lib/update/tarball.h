/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tarball.h - the parts of an update as a gzipped tar */
#ifndef USPL_UPDATE_TARBALL_H
#define USPL_UPDATE_TARBALL_H

#include <time.h>

#include "update/parts.h"

/*
 * Reads a gzipped tar, or a plain one, whose entries all lie in one folder, into parts, which is
 * empty. Nothing is written to disk. USPL_E_FILE: not a tar, damaged, cut short. USPL_E_HOSTILE:
 * names that leave the folder, anything but files and folders, entries of the same name, more than
 * the limits of parts.h.
 */
int tarball_read(const void *data, size_t len, struct parts *parts,
		 struct uspl_err *err) uspl_must_check;
/*
 * Appends the parts, in their order, as a gzipped tar. The bytes depend on names, contents, order
 * and mtime only.
 */
int tarball_write(const struct parts *parts, time_t mtime, struct buf *buf,
		  struct uspl_err *err) uspl_must_check;
/* The same in the order of their names, in the folder of an update, as made when that was. */
int tarball_pack(struct parts *parts, const char *id, const char *created, struct buf *buf,
		 struct uspl_err *err) uspl_must_check;

#endif
