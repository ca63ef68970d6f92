// SPDX-License-Identifier: GPL-3.0-or-later
// build_folders.c - where the copy is, and all that belongs to it

#include "create/build_parts.h"

#include <string.h>

#include "base/file.h"

/* The folder that the user wants to keep: a new one, or an empty one. */
static int make_kept_folder(const char *path, struct uspl_err *err)
{
	int rc = file_mkdirs(path, err);

	if (rc)
		return rc;
	/* rmdir succeeds on an empty folder only. */
	if (rmdir(path) < 0)
		return uspl_fail_errno(err, "cannot use the folder '%s'", path);
	return mkdir(path, 0777) < 0 ? uspl_fail_errno(err, "cannot create the folder '%s'", path)
				     : 0;
}

static int make_work(const char *keep, char **ret_work, struct uspl_err *err)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *path = NULL;
	int rc = 0;

	if (keep)
		path = strdup(keep);
	else if (asprintf(&path, "%s/uspl-create.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		path = NULL;
	if (!path)
		return uspl_fail_nomem(err);
	if (keep)
		rc = make_kept_folder(path, err);
	else if (!mkdtemp(path))
		rc = uspl_fail_errno(err, "cannot create the folder '%s'", path);
	if (rc)
		return rc;
	*ret_work = realpath(path, NULL);
	return *ret_work ? 0 : uspl_fail_errno(err, "cannot find '%s'", path);
}

int source_find(const char *source, char **ret, struct uspl_err *err)
{
	struct stat st;

	*ret = realpath(source, NULL);
	if (!*ret || stat(*ret, &st) < 0)
		return uspl_fail_errno(err, "cannot open the source folder '%s'", source);
	return S_ISDIR(st.st_mode) ? 0
				   : uspl_fail(err, USPL_E_FILE, "'%s' is not a folder", source);
}

int paths_find(const struct build_options *options, const struct prebuild *prebuild,
	       struct build_paths *ret, struct uspl_err *err)
{
	int rc = 0;

	if (prebuild->folder)
		ret->work = file_join(prebuild->folder, "work");
	else
		rc = make_work(options->keep, &ret->work, err);
	if (rc)
		return rc;
	ret->tree = ret->work ? file_join(ret->work, "tree") : NULL;
	return ret->tree ? 0 : uspl_fail_nomem(err);
}

void paths_release(struct build_paths *paths)
{
	free(paths->source);
	free(paths->work);
	free(paths->tree);
	*paths = (struct build_paths){ 0 };
}
