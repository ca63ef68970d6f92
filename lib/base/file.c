// SPDX-License-Identifier: GPL-3.0-or-later
// file.c - whole files and folders, with our messages

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int file_read_fd(int fd, const char *name, struct buf *buf, struct uspl_err *err)
{
	ssize_t got;

	while ((got = buf_add_read(buf, fd)) > 0)
		;
	if (buf->oom)
		return uspl_fail_nomem(err);
	return got < 0 ? uspl_fail_errno(err, "cannot read '%s'", name) : 0;
}

int file_read(const char *path, struct buf *buf, struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", path);
	return file_read_fd(fd, path, buf, err);
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *from = data;

	while (len) {
		ssize_t put = write(fd, from, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		from += put;
		len -= (size_t)put;
	}
	return 0;
}

int file_replace(const char *path, int (*write_to)(int fd, const void *what), const void *what,
		 struct uspl_err *err)
{
	auto_free char *aside = NULL;
	mode_t mask = umask(0);
	int fd, rc = 0;

	umask(mask);
	if (asprintf(&aside, "%s.XXXXXX", path) < 0) {
		aside = NULL;
		return uspl_fail_nomem(err);
	}
	fd = mkostemp(aside, O_CLOEXEC);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot create '%s'", path);
	if (write_to(fd, what) < 0 || fchmod(fd, 0666 & ~mask) < 0)
		rc = uspl_fail_errno(err, "cannot write '%s'", path);
	if (close(fd) < 0 && !rc)
		rc = uspl_fail_errno(err, "cannot write '%s'", path);
	if (!rc && rename(aside, path) < 0)
		rc = uspl_fail_errno(err, "cannot rename '%s' to '%s'", aside, path);
	if (rc)
		unlink(aside);
	return rc;
}

struct bytes {
	const void *data;
	size_t len;
};

static int write_bytes(int fd, const void *what)
{
	const struct bytes *bytes = what;

	return file_write_all(fd, bytes->data, bytes->len);
}

int file_write(const char *path, const void *data, size_t len, struct uspl_err *err)
{
	const struct bytes bytes = { data, len };
	auto_close int fd = -1;
	struct stat st;

	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return file_replace(path, write_bytes, &bytes, err);
	/* A device or a pipe: nothing can be put in its place. */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || file_write_all(fd, data, len) < 0)
		return uspl_fail_errno(err, "cannot write '%s'", path);
	return 0;
}

int file_copy(const char *from, const char *to, struct uspl_err *err)
{
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	auto_close int out = -1;
	struct stat st;
	ssize_t got;

	if (in < 0 || fstat(in, &st) < 0)
		return uspl_fail_errno(err, "cannot open '%s'", from);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 07777);
	if (out < 0)
		return uspl_fail_errno(err, "cannot create '%s'", to);
	do {
		got = copy_file_range(in, NULL, out, NULL, 1 << 30, 0);
	} while (got > 0);
	if (got < 0) {
		auto_buf struct buf buf = { 0 };
		int rc;

		/* Not every pair of file systems can: do it by hand, from the start. */
		if (lseek(in, 0, SEEK_SET) < 0 || lseek(out, 0, SEEK_SET) < 0)
			return uspl_fail_errno(err, "cannot copy '%s'", from);
		rc = file_read_fd(in, from, &buf, err);
		if (rc)
			return rc;
		if (file_write_all(out, buf_str(&buf), buf.len) < 0)
			return uspl_fail_errno(err, "cannot write '%s'", to);
	}
	return 0;
}

int file_mkdirs(const char *path, struct uspl_err *err)
{
	auto_free char *copy = strdup(path);

	if (!copy)
		return uspl_fail_nomem(err);
	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return uspl_fail_errno(err, "cannot create the folder '%s'", copy);
		*p = '/';
	}
	if (mkdir(copy, 0777) < 0 && errno != EEXIST)
		return uspl_fail_errno(err, "cannot create the folder '%s'", copy);
	return 0;
}

int file_make_temporary(const char *prefix, char **ret_path, struct uspl_err *err)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *path = NULL;

	if (asprintf(&path, "%s/%sXXXXXX", tmp && *tmp ? tmp : "/tmp", prefix) < 0) {
		path = NULL;
		return uspl_fail_nomem(err);
	}
	if (!mkdtemp(path))
		return uspl_fail_errno(err, "cannot create the folder '%s'", path);
	*ret_path = take_ptr(path);
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int file_remove_tree(const char *path, struct uspl_err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		return 0;
	if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS) != 0)
		return uspl_fail_errno(err, "cannot remove '%s'", path);
	return 0;
}

const char *file_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *file_join(const char *dir, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

bool file_is_in(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", folder, name);

	return len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0;
}

char *file_in_cache(const char *name)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	auto_free char *below = base && *base == '/' ? strdup(base)
				: home && *home      ? file_join(home, ".cache")
						     : strdup("/var/cache");

	return below ? file_join(below, name) : NULL;
}
