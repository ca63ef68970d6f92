/* SPDX-License-Identifier: GPL-3.0-or-later */
/* save.h - what was recorded goes to a file, or a folder, in one of many forms */
#ifndef USPL_TRACE_CMD_SAVE_H
#define USPL_TRACE_CMD_SAVE_H

#include "base/strvec.h"
#include "trace/log/saved.h"

struct reader;
struct saved_stream;

/* USPL_E_USAGE, naming all, if there is no form of that name; NULL is right. */
int save_check(const char *name, struct uspl_err *err) uspl_must_check;
/*
 * The same, with the path where it goes, or NULL: one that ends with '.zst' is for the form 'uspl',
 * and needs libzstd.
 */
int save_check_path(const char *name, const char *path, struct uspl_err *err) uspl_must_check;
/*
 * Writes what the reader has read. name: "uspl", "uftrace", "ctf", or a format of cat; NULL, and
 * the path's ending decides (format_by_suffix; else "uspl"). path NULL: prints a format of cat
 * where the reader prints. Says on stderr what is lost, where
 * that isn't in the form itself. USPL_E_USAGE: there is no such form.
 */
int save_as(struct reader *reader, const char *name, const char *path,
	    struct uspl_err *err) uspl_must_check;
/*
 * Before the reading of what save_as writes: whether that is made of records without a timeline
 * (formats.h), and whether it shows what the kernel has told.
 */
void save_prepare(struct reader *reader, const char *name, const char *path);
/* What only the process can tell of the calls that are saved in the form "uspl". */
struct save_parts {
	strvec lines;
	trace_callers callers;
};

/* Notes it for the calls of the last reading. */
int save_note(struct reader *reader, struct save_parts *parts,
	      struct uspl_err *err) uspl_must_check;
/* Writes the file. stream: has the records, and their values; NULL: the reader has them. */
int save_finish(struct reader *reader, struct save_parts *parts, struct saved_stream *stream,
		const char *path, struct uspl_err *err) uspl_must_check;
/* Writes what the reader has read to an open file, in the form "uspl". */
int save_into(struct reader *reader, int fd, struct uspl_err *err) uspl_must_check;
void save_parts_release(struct save_parts *parts);
DEFINE_AUTO_RELEASE(save_parts, struct save_parts, save_parts_release)
#define auto_save_parts __attribute__((cleanup(cleanup_save_parts_)))

/* Says on stdout what was saved there. */
void save_say(const struct reader *reader, const char *path);
/* The help of an option for the name. */
#define SAVE_FORMS                                                                                 \
	"'uspl' (default): a file for cat, report and record; 'uftrace', 'ctf': folders for "      \
	"uftrace and babeltrace2; or a format of cat (default for PATH.html, .svg, "               \
	".speedscope.json; PATH.zst packs 'uspl')"

#endif
