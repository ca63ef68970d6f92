/* SPDX-License-Identifier: GPL-3.0-or-later */
/* save.h - what was recorded goes to a file, or a folder, in one of many forms */
#ifndef USPL_TRACE_CMD_SAVE_H
#define USPL_TRACE_CMD_SAVE_H

#include "base/error.h"

struct reader;

/* USPL_E_USAGE, naming all, if there is no form of that name; NULL is right. */
int save_check(const char *name, struct uspl_err *err) uspl_must_check;
/*
 * Writes what the reader has read. name: "uspl", "uftrace", "ctf", or a format of cat; NULL, and
 * the path's ending decides (format_by_suffix; else "uspl"). Says on stderr what is lost, where
 * that isn't in the form itself. USPL_E_USAGE: there is no such form.
 */
int save_as(struct reader *reader, const char *name, const char *path,
	    struct uspl_err *err) uspl_must_check;
/* Says on stdout what was saved there. */
void save_say(const struct reader *reader, const char *path);
/* The help of an option for the name. */
#define SAVE_FORMS                                                                                 \
	"'uspl' (default): a file for cat, report and record; 'uftrace', 'ctf': folders for "      \
	"uftrace and babeltrace2; or a format of cat (default for PATH.html, .svg, "               \
	".speedscope.json)"

#endif
