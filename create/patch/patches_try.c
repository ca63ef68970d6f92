// SPDX-License-Identifier: GPL-3.0-or-later
// patches_try.c - finds out before the first build whether all diffs apply, and how
//
// They are applied in a folder of their own, which has nothing but copies of the files that they
// name. Since it isn't known yet how many leading folders are to be taken off a name, each file
// that is found under a name with any number of them off is copied.
//
// How a diff wants to be applied isn't always said: one without the folders a/ and b/ needs -p0,
// one of sources with DOS line ends may itself have them or not. Each way is tried; a way that
// fails halfway has changed files, so the folder is made anew before the next.

#include "create/patch/patches_try.h"

#include "base/strmap.h"
#include "create/patch/diff_read.h"
#include "create/patch/patch.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

struct trial {
	const char *tree;
	char *folder;
	const struct strmap *names;
	patch_files *patches;
};

/* Copies a file of the tree, if there is one with this name. */
static int copy_named(const char *tree, const char *copy, const char *name, struct uspl_err *err)
{
	auto_free char *from = file_join(tree, name);
	auto_free char *to = file_join(copy, name);
	auto_free char *folder = to ? strndup(to, (size_t)(file_basename(to) - to)) : NULL;
	struct stat st;
	int rc;

	if (!folder)
		return uspl_fail_nomem(err);
	if (stat(from, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	rc = file_mkdirs(folder, err);
	if (rc)
		return rc;
	return file_copy(from, to, err);
}

int patches_copy_named(const char *tree, const struct strmap *names, const char *folder,
		       struct uspl_err *err)
{
	int rc = file_mkdirs(folder, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < names->cap; i++) {
		const char *name = names->slots[i].key;

		while (name && *name) {
			rc = copy_named(tree, folder, name, err);
			name += strcspn(name, "/");
			name += strspn(name, "/");
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Makes the folder as it is after the first n diffs. */
static int start_anew(const struct trial *trial, size_t n, struct uspl_err *err)
{
	int rc = file_remove_tree(trial->folder, err);

	if (rc)
		return rc;
	rc = patches_copy_named(trial->tree, trial->names, trial->folder, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		if (!trial->patches->items[i].in_tree) {
			rc = patch_apply(trial->folder, &trial->patches->items[i], err);
			if (rc)
				return rc;
		}
	return 0;
}

/* How diffs want to be applied; the first two where the user says how many folders to take off. */
static const struct {
	bool no_strip, binary;
} ways[] = { { false, false }, { false, true }, { true, false }, { true, true } };

static int try_one(const struct trial *trial, size_t index, struct uspl_err *err)
{
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

/* ---- what the tree has already ---- */

/* Takes a patch out, whole and with all its context; USPL_E_BUILD where it isn't in. */
static int take_out(const struct trial *trial, const struct patch_file *patch, struct uspl_err *err)
{
	size_t n = patch_sets_strip(patch) ? 2 : ARRAY_SIZE(ways);
	struct patch_file out = *patch;
	int rc = -USPL_E_BUILD;

	out.reverse = out.exact = true;
	for (size_t i = 0; i < n && rc == -USPL_E_BUILD; i++) {
		out.no_strip = ways[i].no_strip;
		out.binary = ways[i].binary;
		out.dry_run = true;
		rc = patch_apply(trial->folder, &out, err);
	}
	out.dry_run = false;
	if (rc)
		return rc;
	return patch_apply(trial->folder, &out, err);
}

/*
 * Are the patches from `first` to `last` in the tree? Then they come out of it, the last one first.
 */
static int are_in_tree(const struct trial *trial, size_t first, size_t last, bool *ret,
		       struct uspl_err *err)
{
	int rc = start_anew(trial, first, err);

	if (rc)
		return rc;
	for (size_t i = last + 1; i > first && !rc; i--)
		rc = take_out(trial, &trial->patches->items[i - 1], NULL);
	*ret = !rc;
	return rc == -USPL_E_BUILD ? 0 : rc;
}

/*
 * Finds the patches from `first` on that the tree has, since this one doesn't apply: a later one
 * may have changed what it made. *ret_n: how many. The folder is then as before the first.
 */
static int find_in_tree(const struct trial *trial, size_t first, size_t *ret_n,
			struct uspl_err *err)
{
	bool in_tree = false;
	int rc = 0;

	*ret_n = 0;
	for (size_t last = first; last < trial->patches->n && !in_tree; last++) {
		rc = are_in_tree(trial, first, last, &in_tree, err);
		*ret_n = in_tree ? last - first + 1 : 0;
		if (rc)
			return rc;
	}
	return start_anew(trial, first, err);
}

/* In a series, a patch that doesn't apply is no failure if it is in the tree. */
static int pass_over(const struct trial *trial, size_t *index, struct uspl_err *err)
{
	struct uspl_err failure = *err;
	size_t n;
	int rc = find_in_tree(trial, *index, &n, err);

	if (rc)
		return rc;
	if (!n) {
		*err = failure;
		return -USPL_E_BUILD;
	}
	for (size_t i = 0; i < n; i++)
		trial->patches->items[*index + i].in_tree = true;
	*index += n - 1;
	return 0;
}

int patches_try(const struct build_paths *paths, const char *text, bool series,
		patch_files *patches, struct uspl_err *err)
{
	auto_free char *folder = file_join(paths->work, "try");
	auto_strmap struct strmap names = { 0 };
	struct trial trial = { paths->tree, folder, &names, patches };
	int rc = folder ? diff_names(text, &names, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = start_anew(&trial, 0, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < patches->n; i++) {
		rc = try_one(&trial, i, err);
		if (rc == -USPL_E_BUILD && series)
			rc = pass_over(&trial, &i, err);
		if (rc)
			return rc;
	}
	return file_remove_tree(folder, err);
}

/* ---- updates that are said to be applied before ---- */

/* Does a patch come out of the tree (reverse), or go into it? */
static int fits(const struct trial *trial, struct patch_file *patch, bool reverse, bool *ret,
		struct uspl_err *err)
{
	int rc = -USPL_E_BUILD;

	patch->reverse = reverse;
	patch->exact = patch->dry_run = true;
	for (size_t i = 0; i < ARRAY_SIZE(ways) && rc == -USPL_E_BUILD; i++) {
		patch->no_strip = ways[i].no_strip;
		patch->binary = ways[i].binary;
		rc = patch_apply(trial->folder, patch, err);
	}
	*ret = !rc;
	return rc == -USPL_E_BUILD ? 0 : rc;
}

static int check_one(const struct trial *trial, const struct build_earlier *earlier,
		     const char *path, struct uspl_err *err)
{
	struct patch_file patch = { .name = earlier->id, .path = (char *)path };
	bool is_in = false, goes_in = false;
	int rc = file_write(path, earlier->patch, strlen(earlier->patch), err);

	if (rc)
		return rc;
	rc = fits(trial, &patch, true, &is_in, err);
	if (rc)
		return rc;
	if (!is_in) {
		rc = fits(trial, &patch, false, &goes_in, err);
		if (rc)
			return rc;
	}
	if (!goes_in)
		return 0;
	uspl_fail(
		err, USPL_E_UNSUPPORTED,
		"the update '%s' is said to come before this one, but its patch isn't in the tree",
		earlier->id);
	uspl_hint(err, "apply its patch to the source first (uspl-view --file=FILE prints it), or "
		       "give both patches with --series");
	return -USPL_E_UNSUPPORTED;
}

int patches_check_earlier(const struct build_paths *paths, const build_earlier_list *list,
			  struct uspl_err *err)
{
	auto_free char *folder = file_join(paths->work, "try");
	auto_free char *path = file_join(paths->work, "earlier");
	const struct build_earlier *earlier;

	if (!folder || !path)
		return uspl_fail_nomem(err);
	vec_for_each (list, earlier) {
		auto_strmap struct strmap names = { 0 };
		struct trial trial = { paths->tree, folder, &names, NULL };
		int rc = diff_names(earlier->patch, &names, err);

		if (rc)
			return rc;
		rc = start_anew(&trial, 0, err);
		if (rc)
			return rc;
		rc = check_one(&trial, earlier, path, err);
		if (rc)
			return rc;
	}
	return list->n ? file_remove_tree(folder, err) : 0;
}
