// SPDX-License-Identifier: GPL-3.0-or-later
// work.c - the work folder of one run, and what runs that were killed left behind
//
// A run that ends removes its folder; a run that is killed doesn't. So each folder has a file that
// its run holds locked; the lock goes with the run, and the next one removes all folders of its
// user whose file isn't locked. Between making the file and locking it another run may lock it
// first, and remove the folder. Then the locked file has no name any more, and a new folder is
// made.

#include "create/tree/work.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

static const char prefix[] = "uspl-create.";
static const char lock_name[] = "in-use";

/* Removes a folder that no run holds any more. */
static void sweep_folder(const char *path)
{
	auto_free char *lock = file_join(path, lock_name);
	auto_close int fd = -1;
	struct stat st;

	if (!lock || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return;
	fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	log_info("build", "removing '%s', which a run that was killed has left", path);
	if (file_remove_tree(path, NULL) != 0)
		log_info("build", "cannot remove '%s'", path);
}

/* Locks the folder's file. *ret_gone: another run has removed it. */
static int lock_folder(const char *path, int *ret_lock, bool *ret_gone, struct uspl_err *err)
{
	auto_free char *lock = file_join(path, lock_name);
	auto_close int fd = -1;
	struct stat st;

	if (!lock)
		return uspl_fail_nomem(err);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0)
		return uspl_fail_errno(err, "cannot lock '%s'", lock);
	*ret_gone = st.st_nlink == 0;
	*ret_lock = fd;
	fd = -1;
	return 0;
}

int work_make(char **ret, int *ret_lock, struct uspl_err *err)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *path = NULL;
	auto_close int lock = -1;
	auto_closedir DIR *dir = NULL;
	struct dirent *entry;
	bool gone = true;

	if (!tmp || !*tmp)
		tmp = "/tmp";
	dir = opendir(tmp);
	while (dir && (entry = readdir(dir)) != NULL) {
		auto_free char *other = file_join(tmp, entry->d_name);

		if (other && text_starts_with(entry->d_name, prefix))
			sweep_folder(other);
	}
	while (gone) {
		int rc;

		free(path);
		if (lock >= 0)
			close(lock);
		lock = -1;
		path = text_format("%s/%sXXXXXX", tmp, prefix);
		if (!path)
			return uspl_fail_nomem(err);
		if (!mkdtemp(path))
			return uspl_fail_errno(err, "cannot create the folder '%s'", path);
		rc = lock_folder(path, &lock, &gone, err);
		if (rc)
			return rc;
	}
	*ret = take_ptr(path);
	*ret_lock = lock;
	lock = -1;
	return 0;
}
