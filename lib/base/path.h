/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path.h - paths that stand in a text (a command line, a file that configure wrote), and the place
 * of our own files
 */
#ifndef USPL_BASE_PATH_H
#define USPL_BASE_PATH_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Appends text with every path at or below the folder `from` changed to one below `to`; from may be
 * NULL. What is below `to` already stays, also where that lies in `from`.
 */
void path_rename(struct buf *out, const char *text, const char *from, const char *to);

/*
 * The path of a file that is installed with this program, by its name as seen from the program's
 * folder ("uspl-create", "../libexec/uspl/uspl-cc"). Whether it is there isn't looked at. The
 * string is the caller's.
 */
int path_beside_program(const char *name, char **ret, struct uspl_err *err) uspl_must_check;

#endif
