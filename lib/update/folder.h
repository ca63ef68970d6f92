/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.h - the parts of an update from the folder of an unpacked tarball */
#ifndef USPL_UPDATE_FOLDER_H
#define USPL_UPDATE_FOLDER_H

#include "update/parts.h"

/*
 * Reads all files below the open folder `fd` into parts, which is empty; fd stays the caller's.
 * Refuses what tarball_read does.
 */
int folder_read(int fd, struct parts *parts, struct uspl_err *err) uspl_must_check;
/* Appends what fd still gives, at most max bytes; more is USPL_E_HOSTILE. */
int folder_read_file(int fd, size_t max, struct buf *buf, struct uspl_err *err) uspl_must_check;

#endif
