// SPDX-License-Identifier: GPL-3.0-or-later
// patched.c - patched sources whose unchanged lines have their old numbers

#include "create/patch/patched.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/strmap.h"
#include "base/strvec.h"
#include "create/tree/lines.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

/*
 * The text of a patched source that was compiled last, if an earlier patch of a series touched it.
 */
static struct compiled_file *find_compiled(const compiled_files *compiled, const char *path)
{
	struct compiled_file *file;

	vec_for_each (compiled, file)
		if (!strcmp(file->path, path))
			return file;
	return NULL;
}

static int keep_compiled(compiled_files *compiled, const char *path, struct buf *text,
			 struct lines_kept *kept, struct uspl_err *err)
{
	struct compiled_file *file = find_compiled(compiled, path);

	if (!file) {
		file = vec_push(compiled);
		if (!file || !(file->path = strdup(path)))
			return uspl_fail_nomem(err);
	}
	buf_release(&file->text);
	file->text = *text;
	*text = (struct buf){ 0 };
	lines_kept_release(&file->kept);
	file->kept = *kept;
	*kept = (struct lines_kept){ 0 };
	return 0;
}

static int renumber(const char *path, const struct buf *pre, bool numbered, struct numbering *ret,
		    struct uspl_err *err)
{
	auto_buf struct buf plain = { 0 };
	auto_buf struct buf text = { 0 };
	auto_lines_kept struct lines_kept kept = { 0 };
	struct plain_file *file;
	bool differs;
	int rc = file_read(path, &plain, err);

	if (rc)
		return rc;
	rc = lines_renumber(pre, numbered, &plain, &text, &kept, err);
	if (rc)
		return rc;
	differs = text.len != plain.len;
	if (differs) {
		rc = tree_rewrite(path, &text, err);
		if (rc)
			return rc;
	}
	rc = keep_compiled(&ret->compiled, path, &text, &kept, err);
	if (rc || !differs)
		return rc;
	file = vec_push(&ret->plain);
	if (!file || !(file->path = strdup(path)))
		return uspl_fail_nomem(err);
	file->text = plain;
	plain = (struct buf){ 0 };
	return 0;
}

int patched_renumber(const struct build_paths *paths, const struct strmap *originals,
		     const strvec *patched, struct numbering *ret, struct uspl_err *err)
{
	char **path;

	vec_for_each (patched, path) {
		const struct compiled_file *last = find_compiled(&ret->compiled, *path);
		auto_buf struct buf pre = { 0 };
		int rc = 0;

		if (last)
			buf_add(&pre, buf_str(&last->text), last->text.len);
		else if (tree_is_c(*path))
			rc = tree_original(paths, originals, *path, &pre, err);
		if (!rc && pre.len)
			rc = renumber(*path, &pre, last && !last->kept.foreign, ret, err);
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

	if (rc)
		return rc;
	if (utimensat(AT_FDCWD, file->path, times, 0) < 0)
		return uspl_fail_errno(err, "cannot set the time of '%s'", file->path);
	return 0;
}

static void plain_file_release(struct plain_file *file)
{
	free(file->path);
	buf_release(&file->text);
	buf_release(&file->numbered);
}

int patched_put_back(plain_files *plain, const strvec *patched, struct uspl_err *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < plain->n; i++) {
		struct plain_file *file = &plain->items[i];

		if (access(file->path, F_OK) < 0 || strvec_has(patched, file->path)) {
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

int patched_give_up(struct numbering *numbering, struct uspl_err *err)
{
	struct compiled_file *compiled;
	const struct plain_file *file;

	vec_for_each (&numbering->compiled, compiled) {
		compiled->kept.lost = compiled->kept.moved;
		compiled->kept.foreign = true;
	}
	/* The files as the diffs left them. */
	vec_for_each (&numbering->plain, file) {
		int rc = tree_rewrite(file->path, &file->text, err);

		if (rc)
			return rc;
	}
	return 0;
}

void patched_release_numbering(struct numbering *numbering)
{
	struct compiled_file *file;

	patched_release(&numbering->plain);
	vec_for_each (&numbering->compiled, file) {
		free(file->path);
		buf_release(&file->text);
		lines_kept_release(&file->kept);
	}
	vec_release(&numbering->compiled);
}
