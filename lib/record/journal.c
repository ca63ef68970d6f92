// SPDX-License-Identifier: GPL-3.0-or-later
// journal.c - what root has applied
/*
 * A file is "uspl-journal 1", then the description and the patch, each behind a line with its
 * length. It is written aside and put in place as a whole. The id names the file. It may come from
 * a process, so it is checked before it becomes part of a path.
 */

#include "record/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/text.h"

static const char *folder(void)
{
	const char *set = secure_getenv("USPL_JOURNAL");

	return set && *set ? set : JOURNAL_DIR;
}

/* The form of an update's id (docs/update-format.md), without those that mean a folder. */
static bool path_of(const char *id, struct buf *path)
{
	size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	if (!len || id[len] || id[0] == '.' || len >= USPL_ID_MAX)
		return false;
	buf_addf(path, "%s/%s.journal", folder(), id);
	return !path->oom;
}

static void add_contents(struct buf *text, const struct region *region)
{
	buf_addf(text, "uspl-journal 1\n%zu\n%s\n%zu\n", strlen(region->description),
		 region->description, region->patch_len);
	buf_add(text, region->patch, region->patch_len);
}

/* Only root can have made it, and only root can change it. */
static bool is_roots(int fd, mode_t type, struct stat *ret)
{
	return fstat(fd, ret) == 0 && (ret->st_mode & S_IFMT) == type && !ret->st_uid &&
	       !(ret->st_mode & (S_IWGRP | S_IWOTH));
}

static bool folder_is_roots(void)
{
	auto_close int fd = open(folder(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && is_roots(fd, S_IFDIR, &st);
}

/* True if the journal has the same update. */
static bool holds(const struct region *region)
{
	auto_buf struct buf path = { 0 }, have = { 0 }, want = { 0 };
	auto_close int fd = -1;
	struct stat st;

	if (!path_of(region->id, &path) || !folder_is_roots())
		return false;
	fd = open(buf_str(&path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	add_contents(&want, region);
	return fd >= 0 && is_roots(fd, S_IFREG, &st) && !want.oom &&
	       (size_t)st.st_size == want.len &&
	       file_read_fd(fd, buf_str(&path), &have, NULL) == 0 && have.len == want.len &&
	       !memcmp(have.data, want.data, want.len);
}

int journal_note(const struct region *region, struct uspl_err *err)
{
	auto_buf struct buf path = { 0 }, text = { 0 };

	if (geteuid() || holds(region) || !path_of(region->id, &path))
		return 0;
	if (mkdir(folder(), 0755) < 0 && errno != EEXIST)
		return uspl_fail_errno(err, "cannot create the folder '%s'", folder());
	if (!folder_is_roots())
		return uspl_fail(err, USPL_E_HOSTILE, "others than root may write to '%s'",
				 folder());
	add_contents(&text, region);
	return text.oom ? uspl_fail_nomem(err)
			: file_write(buf_str(&path), text.data, text.len, err);
}

bool journal_agrees(const struct region *region, uid_t uid)
{
	return !uid || uid == geteuid() || holds(region);
}

bool journal_nearest(const char *id, char ret[USPL_ID_MAX])
{
	static const char suffix[] = ".journal";
	struct nearest nearest = { .word = id };
	auto_closedir DIR *dir = !geteuid() && folder_is_roots() ? opendir(folder()) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char name[USPL_ID_MAX] = "";
		size_t len = strlen(entry->d_name);

		if (!text_ends_with(entry->d_name, suffix) || len - strlen(suffix) >= sizeof(name))
			continue;
		memcpy(name, entry->d_name, len - strlen(suffix));
		nearest_try(&nearest, name);
		if (nearest.name != name)
			continue;
		memcpy(ret, name, sizeof(name));
		nearest.name = ret;
	}
	return nearest.name;
}

void journal_forget(const char *id)
{
	auto_buf struct buf path = { 0 };

	if (geteuid() || !path_of(id, &path))
		return;
	if (unlink(buf_str(&path)) < 0 && errno != ENOENT)
		log_info("journal", "'%s' stays", buf_str(&path));
}
