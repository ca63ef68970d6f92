// SPDX-License-Identifier: GPL-3.0-or-later
// tree_mirror.c - makes one folder like another, with as little copying as can be
//
// A file counts as equal if size, mode and time are, to the nanosecond: both folders are ours, and
// what builds and patches write has a new time.

#include "create/tree/tree_mirror.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

static bool is_same(const char *from, const struct stat *a, const char *to, const struct stat *b)
{
	char was[PATH_MAX], is[PATH_MAX];
	ssize_t len;

	if (a->st_mode != b->st_mode)
		return false;
	if (S_ISLNK(a->st_mode)) {
		len = readlink(from, was, sizeof(was));
		return len >= 0 && readlink(to, is, sizeof(is)) == len &&
		       !memcmp(was, is, (size_t)len);
	}
	return S_ISDIR(a->st_mode) ||
	       (a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec);
}

static int copy_link(const char *from, const char *to, struct uspl_err *err)
{
	char target[PATH_MAX];
	ssize_t len = readlink(from, target, sizeof(target) - 1);

	if (len < 0)
		return uspl_fail_errno(err, "cannot read the link '%s'", from);
	target[len] = '\0';
	return symlink(target, to) < 0 ? uspl_fail_errno(err, "cannot create '%s'", to) : 0;
}

static int mirror_entry(const char *from, const char *to, struct uspl_err *err)
{
	struct timespec times[2];
	struct stat a, b;

	if (lstat(from, &a) < 0)
		return uspl_fail_errno(err, "cannot read '%s'", from);
	if (lstat(to, &b) == 0 && !is_same(from, &a, to, &b)) {
		int rc = file_remove_tree(to, err);

		if (rc)
			return rc;
	}
	if (S_ISDIR(a.st_mode))
		return tree_mirror(from, to, err);
	if (lstat(to, &b) == 0)
		return 0;
	if (S_ISREG(a.st_mode)) {
		int rc = file_copy(from, to, err);

		if (rc)
			return rc;
		times[0] = a.st_atim;
		times[1] = a.st_mtim;
		if (utimensat(AT_FDCWD, to, times, 0) < 0)
			return uspl_fail_errno(err, "cannot set the time of '%s'", to);
		return 0;
	}
	return S_ISLNK(a.st_mode) ? copy_link(from, to, err) : 0;
}

typedef int (*entry_fn)(const char *path, const char *other, struct uspl_err *err);

/* Calls fn for what is in a folder, and what has the same name in another. */
static int for_entries(const char *folder, const char *other, entry_fn fn, struct uspl_err *err)
{
	auto_closedir DIR *dir = opendir(folder);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return uspl_fail_errno(err, "cannot read the folder '%s'", folder);
	while ((entry = readdir(dir)) != NULL) {
		auto_free char *path = file_join(folder, entry->d_name);
		auto_free char *beside = file_join(other, entry->d_name);

		if (!path || !beside)
			return uspl_fail_nomem(err);
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		rc = fn(path, beside, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int remove_extra(const char *path, const char *wanted, struct uspl_err *err)
{
	struct stat st;

	return lstat(wanted, &st) < 0 && errno == ENOENT ? file_remove_tree(path, err) : 0;
}

int tree_mirror(const char *from, const char *to, struct uspl_err *err)
{
	struct stat st;
	int rc;

	if (stat(from, &st) < 0)
		return uspl_fail_errno(err, "cannot read the folder '%s'", from);
	if (mkdir(to, st.st_mode & 0777) < 0 && errno != EEXIST)
		return uspl_fail_errno(err, "cannot create the folder '%s'", to);
	rc = for_entries(to, from, remove_extra, err);
	if (rc)
		return rc;
	return for_entries(from, to, mirror_entry, err);
}
