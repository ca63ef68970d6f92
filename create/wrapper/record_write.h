/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_write.h - what the wrapper tells uspl-create
 *
 * WORK/record-PHASE has a line for each compilation and each link, in the order in which they
 * ended. Fields are separated by tabs; a control character or '%' in a field is written as %XX. All
 * paths are absolute and without symbolic links.
 *
 *     compile OBJECT SOURCE CWD SAVED DEPS COMMAND
 *     lto     OUTPUT:lto SOURCE CWD SAVED "" COMMAND   what link-time optimisation made of objects
 *     partial OUTPUT SAVED OPTIONS INPUT...       `ld -r`: an object made of objects
 *     link    OUTPUT SAVED OPTIONS INPUT...       a program or a shared library
 *
 * CWD is the folder the compiler ran in; SAVED our copy of the object, or another name of the
 * program, "" if it can't have one. DEPS is a list of what was included, in make's syntax, "" if
 * there is none. COMMAND is the compiler and its options, less those that name outputs; OPTIONS
 * what the linker was given beside objects, archives and its output.
 *
 * An INPUT is an object, or "(ARCHIVE)MEMBER", or "@FILE": another name of the object before it,
 * which the build may remove. Shared libraries are left out. Each line is one write() to a file
 * opened with O_APPEND, so that compilers running at the same time don't mix.
 */
#ifndef USPL_CREATE_WRAPPER_RECORD_WRITE_H
#define USPL_CREATE_WRAPPER_RECORD_WRITE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends a field to a line; the first one without a tab before it. */
void record_field(struct buf *line, const char *text);
/* Ends the line and writes it to the record of a phase. */
int record_write(const char *work, const char *phase, struct buf *line,
		 struct uspl_err *err) uspl_must_check;

/*
 * The absolute path of a file that exists, without symbolic links; for one that doesn't exist the
 * same of its folder. NULL if there is no such folder.
 */
char *record_path(const char *path);

/* Makes an empty file WORK/objects/PHASE/XXXXXX.o for a saved object and returns its path. */
int record_new_object(const char *work, const char *phase, char **ret_path,
		      struct uspl_err *err) uspl_must_check;

#endif
