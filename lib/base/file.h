/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file.h - whole files and folders, with our messages */
#ifndef USPL_BASE_FILE_H
#define USPL_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the whole file to buf. Works on /proc files, whose size reads as 0. */
int file_read(const char *path, struct buf *buf, struct uspl_err *err) uspl_must_check;
/* The same from an open descriptor; name is for messages. */
int file_read_fd(int fd, const char *name, struct buf *buf, struct uspl_err *err) uspl_must_check;
/* Writes all of it to an open descriptor. -1, with errno: not all was written. */
int file_write_all(int fd, const void *data, size_t len) uspl_must_check;
/*
 * Writes the whole file, mode 0666 less umask, replacing an older one only when everything is
 * written (write aside, then rename). What isn't a regular file, a pipe or /dev/stdout, is written
 * into.
 */
int file_write(const char *path, const void *data, size_t len,
	       struct uspl_err *err) uspl_must_check;
/*
 * The same of a regular file, by a function that writes to a descriptor and returns -1, with errno,
 * if it can't.
 */
int file_replace(const char *path, int (*write_to)(int fd, const void *what), const void *what,
		 struct uspl_err *err) uspl_must_check;
/* Copies a file's contents and mode. */
int file_copy(const char *from, const char *to, struct uspl_err *err) uspl_must_check;
/* mkdir -p, mode 0777 less umask. */
int file_mkdirs(const char *path, struct uspl_err *err) uspl_must_check;
/*
 * A new folder below TMPDIR, else /tmp, whose name begins so; *ret_path is allocated. The caller
 * removes it.
 */
int file_make_temporary(const char *prefix, char **ret_path, struct uspl_err *err) uspl_must_check;
/* rm -rf; doesn't follow symbolic links. Missing is fine. */
int file_remove_tree(const char *path, struct uspl_err *err) uspl_must_check;
/* The part of path after its last '/'. Points into path. */
const char *file_basename(const char *path);
/* "A/B", allocated; NULL when out of memory. */
char *file_join(const char *dir, const char *name);
/* Is there a file, or folder, of that name in the folder? */
bool file_is_in(const char *folder, const char *name);
/*
 * The folder of that name among the user's caches, by XDG_CACHE_HOME and HOME, else below
 * /var/cache; allocated, NULL when out of memory. It isn't made.
 */
char *file_in_cache(const char *name);

#endif
