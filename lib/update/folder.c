// SPDX-License-Identifier: GPL-3.0-or-later
// folder.c - the parts of an update from the folder of an unpacked tarball

#include "update/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* targets/N/new.o */
enum { DEPTH_MAX = 3 };

int folder_read_file(int fd, size_t max, struct buf *buf, struct uspl_err *err)
{
	ssize_t got;

	while ((got = buf_add_read(buf, fd)) > 0)
		if (buf->len > max)
			return uspl_fail(err, USPL_E_HOSTILE, "it has more than %zu MiB",
					 max >> 20);
	if (buf->oom)
		return uspl_fail_nomem(err);
	return got < 0 ? uspl_fail_errno(err, "cannot read it") : 0;
}

static int read_folder(DIR *dir, const char *prefix, int depth, struct parts *parts,
		       struct uspl_err *err);

static int read_below(int fd, const char *name, int depth, struct parts *parts,
		      struct uspl_err *err)
{
	auto_closedir DIR *dir = NULL;
	int copy;

	if (depth >= DEPTH_MAX)
		return uspl_fail(err, USPL_E_HOSTILE, "the folder '%s' lies too deep", name);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		int rc = uspl_fail_errno(err, "cannot open the folder '%s'", name);

		if (copy >= 0)
			close(copy);
		return rc;
	}
	return read_folder(dir, name, depth + 1, parts, err);
}

static int read_entry(int dir_fd, const char *base, const char *name, int depth,
		      struct parts *parts, struct uspl_err *err)
{
	auto_buf struct buf data = { 0 };
	auto_close int fd = -1;
	struct stat st;
	int rc = parts_check_name(name, err);

	if (rc)
		return rc;
	/* O_NONBLOCK: a FIFO must not keep us waiting before we see that it is one. */
	fd = openat(dir_fd, base, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		return uspl_fail(err, USPL_E_HOSTILE, "the entry '%s' is a symbolic link", name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return uspl_fail_errno(err, "cannot open '%s'", name);
	if (S_ISDIR(st.st_mode))
		return read_below(fd, name, depth, parts, err);
	if (!S_ISREG(st.st_mode))
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the entry '%s' is neither a file nor a folder", name);
	rc = folder_read_file(fd, PARTS_MAX_BYTES, &data, err);
	if (rc)
		return rc;
	return parts_add(parts, name, &data, err);
}

static int read_folder(DIR *dir, const char *prefix, int depth, struct parts *parts,
		       struct uspl_err *err)
{
	struct dirent *entry;
	int rc = 0;

	while ((entry = readdir(dir))) {
		auto_buf struct buf name = { 0 };

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		buf_addf(&name, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
		rc = name.oom ? uspl_fail_nomem(err)
			      : read_entry(dirfd(dir), entry->d_name, buf_str(&name), depth, parts,
					   err);
		if (rc)
			return rc;
	}
	return 0;
}

int folder_read(int fd, struct parts *parts, struct uspl_err *err)
{
	return read_below(fd, "", 0, parts, err);
}
