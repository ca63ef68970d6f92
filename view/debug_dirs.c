// SPDX-License-Identifier: GPL-3.0-or-later
// debug_dirs.c - where the debugging information of updates is looked for

#include "view/debug_dirs.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "machine/wanted.h"
#include "view/debug_sources.h"

/* Where the file's sources are, if that is another place than its tree; else *ret stays NULL. */
static int place_sources(const struct debug_dirs *dirs, const struct debug_file *file, char **ret,
			 struct uspl_err *err)
{
	auto_free char *folder = NULL;
	int rc = 0;

	if (!dirs->sources || !file->tree || !debug_sources_differ(file))
		return 0;
	if (asprintf(&folder, "%s/uspl-%s", dirs->sources, file->id) < 0) {
		folder = NULL;
		return uspl_fail_nomem(err);
	}
	/* An update may have several regions. */
	if (access(folder, F_OK) != 0)
		rc = debug_sources_write(file, folder, err);
	if (!rc)
		*ret = take_ptr(folder);
	return rc;
}

/* Appends a file's information, or refuses it. */
static int add_file(const struct debug_dirs *dirs, const char *path, const struct proc *proc,
		    const struct region *region, struct debug_link *debug, struct uspl_err *err)
{
	auto_debug_file struct debug_file file = { 0 };
	auto_free char *sources = NULL;
	bool fits = false;
	/* A process doesn't know the digest of an update that was applied from a folder. */
	int rc = debug_file_read(path, region->id, region->digest ? region->digest : "", &file,
				 NULL, err);

	if (rc)
		return rc;
	rc = place_sources(dirs, &file, &sources, err);
	if (!rc)
		rc = debug_link_add(debug, proc, region, &file, sources, &fits, err);
	if (rc)
		uspl_context(err, "'%s'", path);
	if (rc || fits)
		return rc;
	return uspl_fail(err, USPL_E_NO_MATCH, "'%s' isn't about the code that the process has",
			 path);
}

/* *ret_found: there is a file there that could be used. */
static int look(const struct debug_dirs *dirs, const char *folder, const struct proc *proc,
		const struct region *region, struct debug_link *debug, bool *ret_found,
		struct uspl_err *err)
{
	auto_free char *path = NULL;
	struct uspl_err why = { 0 };
	int rc;

	if (asprintf(&path, "%s/uspl-%s" DEBUG_FILE_SUFFIX, folder, region->id) < 0) {
		path = NULL;
		return uspl_fail_nomem(err);
	}
	if (access(path, F_OK) != 0)
		return 0;
	rc = add_file(dirs, path, proc, region, debug, &why);
	if (rc == -USPL_E_NOMEM || rc == -USPL_E_CANCELLED) {
		*err = why;
		return rc;
	}
	if (rc) {
		uspl_context(&why, "no source lines of '%s'", region->id);
		uspl_err_note(stderr, &why);
	}
	*ret_found = !rc;
	return 0;
}

int debug_dirs_add(const struct debug_dirs *dirs, const struct proc *proc,
		   const struct region *region, struct debug_link *debug, struct uspl_err *err)
{
	const char *const more[] = { DEBUG_DIRS_INSTALLED, wanted_folder() };
	bool found = false;

	/* The id comes from the process, and becomes part of a path. */
	if (!update_id_valid(region->id))
		return 0;
	for (size_t i = 0; i < dirs->named.n + ARRAY_SIZE(more) && !found; i++) {
		const char *folder =
			i < dirs->named.n ? dirs->named.items[i] : more[i - dirs->named.n];
		int rc = look(dirs, folder, proc, region, debug, &found, err);

		if (rc)
			return rc;
	}
	return 0;
}
