// SPDX-License-Identifier: GPL-3.0-or-later
// changes.c - the difference of two versions of a source package, as a whole or change by change
/*
 * A version that brings several fixes has a patch for each, as a rule at the end of its list. These
 * are applied, one after the other, to a copy of the older version, `c`. What the copy and the
 * newer version still differ in is the rest. Where a version brings all of them in one patch, or is
 * upstream's next one, the user may have the single ones, as upstream's commits.
 */

#include "create/package/changes.h"

#include <string.h>

#include "base/file.h"
#include "create/package/difference.h"
#include "create/package/source_package.h"
#include "create/patch/patch.h"
#include "create/tree/tree_mirror.h"

static int add_change(const char *path, const char *option, series_patches *ret,
		      struct uspl_err *err)
{
	struct series_patch *change = vec_push(ret);

	if (!change)
		return uspl_fail_nomem(err);
	change->path = strdup(path);
	change->option = option ? strdup(option) : NULL;
	return change->path && (change->option || !option) ? 0 : uspl_fail_nomem(err);
}

/* Writes what the trees `was` and `b` differ in to folder/name. */
static int write_difference(const char *folder, const char *was, const char *name,
			    const struct source_package *from, const struct source_package *to,
			    series_patches *ret, struct buf *ret_notes, struct uspl_err *err)
{
	auto_free char *path = file_join(folder, name);
	auto_buf struct buf text = { 0 }, binary = { 0 };
	int rc;

	buf_addf(&text, "%s %s, as an update of %s\n\n", to->name, to->version, from->version);
	rc = path ? difference_make(folder, was, from, to, &text, &binary, err)
		  : uspl_fail_nomem(err);
	if (rc)
		return rc;
	if (binary.len)
		buf_addf(ret_notes, "left out, since these files aren't text: %s\n",
			 buf_str(&binary));
	if (text.oom || ret_notes->oom)
		return uspl_fail_nomem(err);
	rc = file_write(path, text.data, text.len, err);
	if (rc)
		return rc;
	return add_change(path, NULL, ret, err);
}

int changes_whole(const char *folder, const struct source_package *from,
		  const struct source_package *to, series_patches *ret, struct buf *ret_notes,
		  struct uspl_err *err)
{
	return write_difference(folder, "a", "difference", from, to, ret, ret_notes, err);
}

/* What came of a patch. */
enum outcome { APPLIED, IN_SOURCE, NO_FIT };

/* Applies a patch to the copy, if it fits as a whole. */
static int try_patch(const char *copy, const struct series_patch *listed, enum outcome *ret,
		     struct uspl_err *err)
{
	struct patch_file patch = { .name = file_basename(listed->path),
				    .path = listed->path,
				    .option = listed->option,
				    .dry_run = true };
	int rc = patch_apply(copy, &patch, err);

	if (!rc) {
		*ret = APPLIED;
		patch.dry_run = false;
		return patch_apply(copy, &patch, err);
	}
	if (rc != -USPL_E_BUILD)
		return rc;
	patch.reverse = patch.exact = true;
	rc = patch_apply(copy, &patch, err);
	if (rc && rc != -USPL_E_BUILD)
		return rc;
	*ret = rc ? NO_FIT : IN_SOURCE;
	return 0;
}

/* The patches of the newer version that the older one hasn't applied. */
static int read_new_patches(const struct source_package *from, const struct source_package *to,
			    series_patches *ret, struct uspl_err *err)
{
	auto_free char *folder = file_join(to->tree, "debian/patches");
	struct uspl_err why = { 0 };
	int rc = folder ? series_read(folder, from->tree, ret, &why) : uspl_fail_nomem(&why);

	/* It has none, or no more than the older one. */
	if (!rc || rc == -USPL_E_FILE || rc == -USPL_E_SYSTEM)
		return 0;
	*err = why;
	return rc;
}

int changes_single(const char *folder, const struct source_package *from,
		   const struct source_package *to, const char *series, series_patches *ret,
		   struct buf *ret_notes, struct uspl_err *err)
{
	auto_free char *copy = file_join(folder, "c");
	auto_free char *given = NULL;
	auto_series series_patches listed = { 0 };
	const struct series_patch *patch;
	int rc = copy ? tree_mirror(from->tree, copy, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	/* What the user gives, by paths that hold wherever patch(1) runs. */
	given = series ? realpath(series, NULL) : NULL;
	if (series && !given)
		return uspl_fail_errno(err, "cannot read '%s'", series);
	if (given)
		rc = series_read(given, from->tree, &listed, err);
	else if (source_package_is_quilt(to))
		rc = read_new_patches(from, to, &listed, err);
	if (rc)
		return rc;
	vec_for_each (&listed, patch) {
		enum outcome outcome = NO_FIT;

		rc = try_patch(copy, patch, &outcome, err);
		if (!rc && outcome == APPLIED)
			rc = add_change(patch->path, patch->option, ret, err);
		if (rc)
			return rc;
		if (outcome == NO_FIT)
			buf_addf(ret_notes,
				 "'%s' doesn't apply to %s: what %s has of it is a part of what is "
				 "called 'rest'\n",
				 file_basename(patch->path), from->version, to->version);
	}
	rc = write_difference(folder, "c", "rest", from, to, ret, ret_notes, err);
	return rc == -USPL_E_NO_CHANGE && ret->n ? 0 : rc;
}
