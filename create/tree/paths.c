// SPDX-License-Identifier: GPL-3.0-or-later
// paths.c - where the copy is, and all that belongs to it

#include "create/tree/paths.h"

#include "create/tree/build.h"
#include "create/tree/prebuild.h"
#include "create/tree/work.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* PATH, by which builds find the wrapper, has no way to write a ':' within a name. */
int paths_check_folder(const char *folder, struct uspl_err *err)
{
	if (!strchr(folder, ':'))
		return 0;
	/* Either it was made for us a moment ago, or it isn't empty, and stays. */
	rmdir(folder);
	uspl_fail(err, USPL_E_USAGE, "nothing can be built in '%s': its name has a ':'", folder);
	uspl_hint(err, "builds find the compiler by PATH, in which ':' ends a name; choose another "
		       "folder with --keep, --prebuild or TMPDIR");
	return -USPL_E_USAGE;
}

static int make_work(const char *keep, char **ret_work, int *ret_lock, struct uspl_err *err)
{
	auto_free char *path = keep ? strdup(keep) : NULL;
	int rc;

	if (keep && !path)
		return uspl_fail_nomem(err);
	rc = keep ? file_mkdirs(path, err) : work_make(&path, ret_lock, err);
	if (rc)
		return rc;
	/* The folder that the user wants to keep is a new one, or an empty one: rmdir tells. */
	if (keep && rmdir(path) < 0)
		return uspl_fail_errno(err, "cannot use the folder '%s'", path);
	if (keep && mkdir(path, 0777) < 0)
		return uspl_fail_errno(err, "cannot create the folder '%s'", path);
	*ret_work = realpath(path, NULL);
	return *ret_work ? paths_check_folder(*ret_work, err)
			 : uspl_fail_errno(err, "cannot find '%s'", path);
}

int paths_find_source(const char *source, char **ret, struct uspl_err *err)
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

	ret->origin = options->origin;
	if (prebuild->folder)
		ret->work = file_join(prebuild->folder, "work");
	else {
		rc = make_work(options->keep, &ret->work, &ret->lock, err);
		if (rc)
			return rc;
	}
	ret->tree = ret->work ? file_join(ret->work, "tree") : NULL;
	return ret->tree ? 0 : uspl_fail_nomem(err);
}

void paths_release(struct build_paths *paths)
{
	free(paths->source);
	free(paths->work);
	free(paths->tree);
	if (paths->lock >= 0)
		close(paths->lock);
	*paths = (struct build_paths){ .lock = -1 };
}
