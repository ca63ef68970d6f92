/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debdiff.h - diffs of packages, which have their changes within their changes */
#ifndef USPL_CREATE_PATCH_DEBDIFF_H
#define USPL_CREATE_PATCH_DEBDIFF_H

#include "create/patch/sections.h"

struct buf;
struct build;
struct build_paths;
struct patch_file;
struct uspl_err;

enum debdiff_kind {
	DEBDIFF_NONE,  /* it is no diff of a package with patches */
	DEBDIFF_QUILT, /* of debian/patches, format 3.0 (quilt) */
	DEBDIFF_SPEC,  /* of a spec file */
};

/*
 * Appends what a diff of a package changes in the source by the patches that the package has, and
 * notes it. USPL_E_UNSUPPORTED: it takes patches out of an rpm package, or changes them;
 * USPL_E_BUILD: patches that it changes can't be taken out of the tree.
 */
int debdiff_resolve(const struct build_paths *paths, const struct patch_file *patch,
		    const section_list *sections, struct buf *ret, enum debdiff_kind *ret_kind,
		    struct build *notes, struct uspl_err *err) uspl_must_check;
/* Is a file one that debdiff_resolve has made use of? */
bool debdiff_takes(enum debdiff_kind kind, const char *name);
/* Is it debian/changelog? */
bool debdiff_is_changelog(const char *name);
/* The rest of a name below a folder, which may itself lie below others; NULL if it isn't there. */
const char *debdiff_below(const char *name, const char *folder);

#endif
