// SPDX-License-Identifier: GPL-3.0-or-later
// build_patched.c - patched sources whose unchanged lines have their old numbers

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "create/build_lines.h"
#include "create/build_patch.h"

static int renumber(const char *path, const struct buf *pre, plain_files *ret, struct uspl_err *err)
{
	auto_buf struct buf plain = { 0 };
	auto_buf struct buf text = { 0 };
	struct plain_file *file;
	int rc = file_read(path, &plain, err);

	if (!rc)
		rc = lines_renumber(pre, &plain, &text, err);
	if (rc || text.len == plain.len)
		return rc;
	file = vec_push(ret);
	if (!file || !(file->path = strdup(path)))
		return uspl_fail_nomem(err);
	file->text = plain;
	plain = (struct buf){ 0 };
	return tree_rewrite(path, &text, err);
}

int patched_renumber(const struct build_paths *paths, const struct strmap *originals,
		     const tree_files *patched, plain_files *ret, struct uspl_err *err)
{
	char **path;

	vec_for_each (patched, path) {
		auto_buf struct buf pre = { 0 };
		int rc = tree_is_c(*path) ? tree_original(paths, originals, *path, &pre, err) : 0;

		if (!rc && pre.len)
			rc = renumber(*path, &pre, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

int patched_restore(const plain_files *plain, struct uspl_err *err)
{
	const struct plain_file *file;

	vec_for_each (plain, file) {
		int rc = tree_rewrite(file->path, &file->text, err);

		if (rc)
			return rc;
	}
	return 0;
}

int patched_take_out(plain_files *plain, struct uspl_err *err)
{
	struct plain_file *file;

	vec_for_each (plain, file) {
		struct stat st;
		int rc = file_read(file->path, &file->numbered, err);

		if (rc)
			return rc;
		if (stat(file->path, &st) < 0)
			return uspl_fail_errno(err, "cannot read '%s'", file->path);
		file->time = st.st_mtim;
		rc = tree_rewrite(file->path, &file->text, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int put_back(const struct plain_file *file, struct uspl_err *err)
{
	struct timespec times[2] = { file->time, file->time };
	int rc = tree_rewrite(file->path, &file->numbered, err);

	if (!rc && utimensat(AT_FDCWD, file->path, times, 0) < 0)
		rc = uspl_fail_errno(err, "cannot set the time of '%s'", file->path);
	return rc;
}

static void plain_file_release(struct plain_file *file)
{
	free(file->path);
	buf_release(&file->text);
	buf_release(&file->numbered);
}

int patched_put_back(plain_files *plain, const tree_files *patched, struct uspl_err *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < plain->n; i++) {
		struct plain_file *file = &plain->items[i];

		if (access(file->path, F_OK) < 0 || tree_files_has(patched, file->path)) {
			plain_file_release(file);
			continue;
		}
		if (!rc)
			rc = put_back(file, err);
		buf_release(&file->numbered);
		plain->items[kept++] = *file;
	}
	plain->n = kept;
	return rc;
}

void patched_release(plain_files *plain)
{
	struct plain_file *file;

	vec_for_each (plain, file)
		plain_file_release(file);
	vec_release(plain);
}
