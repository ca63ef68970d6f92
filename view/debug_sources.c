// SPDX-License-Identifier: GPL-3.0-or-later
// debug_sources.c - the sources of new code, for debuggers

#include "view/debug_sources.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

bool debug_sources_differ(const struct debug_file *file)
{
	const struct debug_source *source;

	vec_for_each (&file->sources, source) {
		auto_free char *path = file_join(file->tree, source->path);
		auto_buf struct buf text = { 0 };

		if (!path || file_read(path, &text, NULL) || text.len != source->text.len ||
		    memcmp(buf_str(&text), buf_str(&source->text), text.len) != 0)
			return true;
	}
	return false;
}

/* Links to what a folder of the tree has, and the new folder hasn't. */
static int link_rest(const char *tree, const char *folder, const char *name, struct uspl_err *err)
{
	auto_free char *from = file_join(tree, name), *to = file_join(folder, name);
	auto_closedir DIR *dir = from ? opendir(from) : NULL;
	struct dirent *entry;

	if (!from || !to)
		return uspl_fail_nomem(err);
	while (dir && (entry = readdir(dir)) != NULL) {
		auto_free char *old = file_join(from, entry->d_name);
		auto_free char *new = file_join(to, entry->d_name);

		if (!old || !new)
			return uspl_fail_nomem(err);
		/* The patched sources and their folders are there already. */
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    symlink(old, new) < 0 && errno != EEXIST)
			return uspl_fail_errno(err, "cannot make '%s'", new);
	}
	return 0;
}

/* The folders in which a source is, from the tree's root on. */
static int link_around(const struct debug_file *file, const char *folder, const char *source,
		       struct uspl_err *err)
{
	int rc = link_rest(file->tree, folder, ".", err);

	if (rc)
		return rc;
	for (const char *slash = strchr(source, '/'); slash; slash = strchr(slash + 1, '/')) {
		auto_free char *name = strndup(source, (size_t)(slash - source));

		if (!name)
			return uspl_fail_nomem(err);
		rc = link_rest(file->tree, folder, name, err);
		if (rc)
			return rc;
	}
	return 0;
}

int debug_sources_write(const struct debug_file *file, const char *folder, struct uspl_err *err)
{
	const struct debug_source *source;
	int rc = file_mkdirs(folder, err);

	if (rc)
		return rc;
	/* All of these first: none of them may come to lie behind a link. */
	vec_for_each (&file->sources, source) {
		auto_free char *path = file_join(folder, source->path);
		char *slash = path ? strrchr(path, '/') : NULL;

		if (!path)
			return uspl_fail_nomem(err);
		*slash = '\0';
		rc = file_mkdirs(path, err);
		if (rc)
			return rc;
		*slash = '/';
		rc = file_write(path, buf_str(&source->text), source->text.len, err);
		if (rc)
			return rc;
	}
	vec_for_each (&file->sources, source) {
		rc = link_around(file, folder, source->path, err);
		if (rc)
			return rc;
	}
	return 0;
}
