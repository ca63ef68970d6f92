/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libraries.h - the libraries that a program's file names, as far as they are on this machine */
#ifndef USPL_CREATE_LIBRARIES_H
#define USPL_CREATE_LIBRARIES_H

#include "image/image_elf.h"

struct build;

enum library_answer {
	LIBRARY_NONE,    /* none of them defines the name */
	LIBRARY_ONE,     /* one does */
	LIBRARY_UNKNOWN, /* a library isn't found here, or the file is one, used by any program */
};

/* True for a shared library or plugin, false for a program. */
bool libraries_is_one(const struct image_file *file);

/*
 * Does one of the libraries that the file needs, or that these need, define the name? They are
 * looked for among what the build has linked, and where the dynamic linker looks by default
 * (ld.so(8)). ret_n: how many there are.
 */
int libraries_define(const struct build *build, const struct image_file *file, const char *name,
		     enum library_answer *ret, size_t *ret_n, struct uspl_err *err) uspl_must_check;

/* The same for a linked file of that path, NULL for none; *ret is true if one is known to do so. */
int libraries_have(const struct build *build, const char *path, const char *name, bool *ret,
		   struct uspl_err *err) uspl_must_check;

/*
 * Does the linked file say that it needs a library of that name ("libstdc++.so."), whatever its
 * version? *ret is false where the file can't be read.
 */
int libraries_needed(const char *path, const char *name, bool *ret,
		     struct uspl_err *err) uspl_must_check;

#endif
