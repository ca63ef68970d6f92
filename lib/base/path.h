/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path.h - paths that stand in a text: a command line, a file that configure wrote */
#ifndef USPL_BASE_PATH_H
#define USPL_BASE_PATH_H

#include "base/buf.h"

/*
 * Appends text with every path at or below the folder `from` changed to one below `to`; from may be
 * NULL. What is below `to` already stays, also where that lies in `from`.
 */
void path_rename(struct buf *out, const char *text, const char *from, const char *to);

#endif
