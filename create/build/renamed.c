// SPDX-License-Identifier: GPL-3.0-or-later
// renamed.c - programs that a build links under one name and leaves under another
//
// `cc -o prog.tmp ... && mv prog.tmp prog` leaves nothing where the linker wrote. The wrapper gave
// what was linked a second name (create/wrapper/link_step.c): a renamed program is the file with
// the same inode; a copy, stripped or not, is the one with the same build-id or, where there is
// none, with the same bytes.

#include "create/build/renamed.h"

#include "create/build/linked_note.h"
#include "create/build/record.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

#include <string.h>

#include "base/file.h"

/* What is looked for, and what was found. */
struct search {
	const char *saved;
	struct stat st;
	struct build_link facts; /* its build-id */
	char *path;              /* the best so far */
	bool same_file;          /* it isn't a copy */
};

static int is_copy(const struct search *search, const char *path, const struct stat *st, bool *ret,
		   struct uspl_err *err)
{
	struct build_link facts = { 0 };
	int rc = 0;

	*ret = false;
	if (search->facts.build_ids.n) {
		rc = linked_note(&facts, path, err);
		*ret = !rc && facts.build_ids.n &&
		       !strcmp(facts.build_ids.items[0], search->facts.build_ids.items[0]);
	} else if (st->st_size == search->st.st_size) {
		*ret = linked_same_bytes(path, search->saved);
	}
	build_link_release(&facts);
	return rc;
}

/* A file that was renamed counts for more than a copy, of copies the first by name. */
static int consider(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct search *search = ctx;
	bool same_file = st->st_ino == search->st.st_ino && st->st_dev == search->st.st_dev;
	bool copy = false;
	int rc = 0;

	if (search->same_file || (!same_file && tree_is_source(path)))
		return 0;
	if (!same_file) {
		rc = is_copy(search, path, st, &copy, err);
		if (rc)
			return rc;
	}
	if (!same_file && !copy)
		return 0;
	if (!same_file && search->path && strcmp(search->path, path) < 0)
		return 0;
	free(search->path);
	search->path = strdup(path);
	search->same_file = same_file;
	return search->path ? 0 : uspl_fail_nomem(err);
}

int renamed_find(const struct build_paths *paths, const struct record *link, char **ret,
		 struct uspl_err *err)
{
	struct search search = { .saved = link->saved };
	struct stat st;
	int rc = 0;

	if (link->saved && stat(link->saved, &search.st) == 0) {
		rc = linked_note(&search.facts, link->saved, err);
		if (!rc && stat(link->output, &st) == 0)
			rc = consider(link->output, &st, &search, err);
		if (!rc && !search.path)
			rc = tree_walk(paths->tree, consider, &search, err);
	}
	build_link_release(&search.facts);
	if (!rc && !search.path)
		search.path = strdup(link->output);
	if (rc || !search.path) {
		free(search.path);
		if (rc)
			return rc;
		return uspl_fail_nomem(err);
	}
	*ret = search.path;
	return 0;
}
