// SPDX-License-Identifier: GPL-3.0-or-later
// etc.c - what the administrator of the machine has laid down: /etc/uspl

#include "trust/etc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "trust/conf.h"

#define ENTRIES_MAX 4096

const char *etc_folder(void)
{
	const char *set = secure_getenv("USPL_ETC");
	struct stat st;

	if (set && *set && lstat(ETC_DIR, &st) < 0 && errno == ENOENT)
		return set;
	return ETC_DIR;
}

/* *ret_fd is -1 if it doesn't exist. The descriptor is the caller's. */
static int open_checked(const char *path, mode_t type, int *ret_fd, struct uspl_err *err)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	auto_close int fd = open(path, flags | (type == S_IFDIR ? O_DIRECTORY : 0));
	struct stat st;

	*ret_fd = -1;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return uspl_fail(err, USPL_E_POLICY, "cannot open '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) < 0)
		return uspl_fail(err, USPL_E_POLICY, "cannot look at '%s': %s", path,
				 strerror(errno));
	if ((st.st_mode & S_IFMT) != type)
		return uspl_fail(err, USPL_E_POLICY, "'%s' is not a %s", path,
				 type == S_IFDIR ? "folder" : "regular file");
	/* No other user can have written it, or can write to it while it is read. */
	if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH))) {
		uspl_fail(err, USPL_E_POLICY, "others may write to '%s'", path);
		uspl_hint(err,
			  "give it to root, and take the right to write to it from all others");
		return -USPL_E_POLICY;
	}
	*ret_fd = take_fd(fd);
	return 0;
}

/* The folder that a name lies in, and all above it that are ours: each is checked. */
static int check_folders(const char *name, bool *ret_there, struct uspl_err *err)
{
	const char *slash = strrchr(name, '/');
	auto_buf struct buf inner = { 0 };
	auto_close int top = -1, fd = -1;
	int rc = open_checked(etc_folder(), S_IFDIR, &top, err);

	*ret_there = top >= 0;
	if (rc || top < 0 || !slash)
		return rc;
	buf_addf(&inner, "%s/%.*s", etc_folder(), (int)(slash - name), name);
	if (inner.oom)
		return uspl_fail_nomem(err);
	rc = open_checked(buf_str(&inner), S_IFDIR, &fd, err);
	*ret_there = fd >= 0;
	return rc;
}

int etc_read(const char *name, struct buf *buf, bool *ret_there, struct uspl_err *err)
{
	auto_free char *path = file_join(etc_folder(), name);
	auto_close int fd = -1;
	ssize_t got;
	int rc = path ? check_folders(name, ret_there, err) : uspl_fail_nomem(err);

	if (rc || !*ret_there)
		return rc;
	rc = open_checked(path, S_IFREG, &fd, err);
	*ret_there = fd >= 0;
	if (rc || fd < 0)
		return rc;
	while ((got = buf_add_read(buf, fd)) > 0 && buf->len <= CONF_MAX_BYTES)
		;
	if (buf->oom)
		return uspl_fail_nomem(err);
	if (got < 0)
		return uspl_fail(err, USPL_E_POLICY, "cannot read '%s': %s", path, strerror(errno));
	if (buf->len > CONF_MAX_BYTES)
		return uspl_fail(err, USPL_E_POLICY, "'%s' has more than %u bytes", path,
				 CONF_MAX_BYTES);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int etc_list(const char *name, const char *suffix, strvec *ret, struct uspl_err *err)
{
	auto_free char *path = file_join(etc_folder(), name);
	auto_closedir DIR *dir = NULL;
	const struct dirent *entry;
	bool there = false;
	int fd, rc = path ? check_folders(name, &there, err) : uspl_fail_nomem(err);

	if (rc || !there)
		return rc;
	rc = open_checked(path, S_IFDIR, &fd, err);
	if (rc || fd < 0)
		return rc;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return uspl_fail_nomem(err);
	}
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (entry->d_name[0] == '.' || !text_ends_with(entry->d_name, suffix))
			continue;
		if (ret->n == ENTRIES_MAX)
			return uspl_fail(err, USPL_E_POLICY, "'%s' has more than %d files", path,
					 ENTRIES_MAX);
		if (!strvec_add(ret, entry->d_name))
			return uspl_fail_nomem(err);
	}
	if (errno)
		return uspl_fail(err, USPL_E_POLICY, "cannot read '%s': %s", path, strerror(errno));
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_name);
	return 0;
}
