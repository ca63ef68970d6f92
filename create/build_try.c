// SPDX-License-Identifier: GPL-3.0-or-later
// build_try.c - finds out before the first build whether all diffs apply, and how
//
// They are applied in a folder of their own, which has nothing but copies of the files that they
// name. Since nobody knows yet how many leading folders are to be taken off a name, each file that
// is found under a name with any number of them off is copied.
//
// How a diff wants to be applied isn't always said: one without the folders a/ and b/ needs -p0, one
// of sources with DOS line ends may itself have them or not. Each way is tried; a way that fails
// halfway has changed files, so the folder is made anew before the next.

#include "create/build_patch.h"

#include <string.h>

#include "base/file.h"

struct trial {
	const char *tree;
	char *folder;
	const struct strmap *names;
	patch_files *patches;
};

/* Copies a file of the tree, if there is one with this name. */
static int copy_named(const struct trial *trial, const char *name, struct uspl_err *err)
{
	auto_free char *from = file_join(trial->tree, name);
	auto_free char *to = file_join(trial->folder, name);
	auto_free char *folder = to ? strndup(to, (size_t)(file_basename(to) - to)) : NULL;
	struct stat st;
	int rc;

	if (!folder)
		return uspl_fail_nomem(err);
	if (stat(from, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	rc = file_mkdirs(folder, err);
	return rc ? rc : file_copy(from, to, err);
}

static int copy_files(const struct trial *trial, struct uspl_err *err)
{
	int rc = file_mkdirs(trial->folder, err);

	for (size_t i = 0; i < trial->names->cap && !rc; i++) {
		const char *name = trial->names->slots[i].key;

		while (name && *name && !rc) {
			rc = copy_named(trial, name, err);
			name += strcspn(name, "/");
			name += strspn(name, "/");
		}
	}
	return rc;
}

/* Makes the folder as it is after the first n diffs. */
static int start_anew(const struct trial *trial, size_t n, struct uspl_err *err)
{
	int rc = file_remove_tree(trial->folder, err);

	if (!rc)
		rc = copy_files(trial, err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = patch_apply(trial->folder, &trial->patches->items[i], err);
	return rc;
}

static int try_one(const struct trial *trial, size_t index, struct uspl_err *err)
{
	static const struct {
		bool no_strip, binary;
	} ways[] = { { false, false }, { false, true }, { true, false }, { true, true } };
	struct patch_file *patch = &trial->patches->items[index];
	size_t n = patch_sets_strip(patch) ? 2 : ARRAY_SIZE(ways);
	struct uspl_err first = { 0 };

	for (size_t i = 0; i < n; i++) {
		int rc = i ? start_anew(trial, index, err) : 0;

		if (rc)
			return rc;
		patch->no_strip = ways[i].no_strip;
		patch->binary = ways[i].binary;
		rc = patch_apply(trial->folder, patch, err);
		if (rc != -USPL_E_BUILD)
			return rc;
		if (!i)
			first = *err;
	}
	/* What is wrong with the usual way is what the user should know. */
	*err = first;
	return -USPL_E_BUILD;
}

int patches_try(const struct build_paths *paths, const char *text, patch_files *patches,
		struct uspl_err *err)
{
	auto_free char *folder = file_join(paths->work, "try");
	struct strmap names = { 0 };
	struct trial trial = { paths->tree, folder, &names, patches };
	int rc = folder ? diff_names(text, &names, err) : uspl_fail_nomem(err);

	if (!rc)
		rc = start_anew(&trial, 0, err);
	for (size_t i = 0; i < patches->n && !rc; i++)
		rc = try_one(&trial, i, err);
	strmap_release(&names);
	return rc ? rc : file_remove_tree(folder, err);
}
