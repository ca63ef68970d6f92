/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * package.h - from two versions of a package to what an update is made of
 *
 * Both source packages are fetched by apt (apt.h). The source is the older one, the patch is what
 * the newer one differs in as far as it is compiled, and the programs to match ahead are those of
 * the older version's binary packages.
 */
#ifndef USPL_CREATE_PACKAGE_PACKAGE_H
#define USPL_CREATE_PACKAGE_PACKAGE_H

#include "base/strvec.h"
#include "create/package/shipped_files.h"
#include "create/patch/series.h"

struct package {
	char *source;    /* the source package's name */
	char *from, *to; /* its versions */
	char *folder;    /* where all of it lies */
	char *tree;      /* the older source */
	char *origin;    /* that source by its name, wherever it lies this time */
	/*
	 * What the newer source differs in: one file, or one for each patch that the newer version
	 * has more (or the user gives), and last what these don't bring, if there is anything.
	 */
	series_patches changes;
	strvec files; /* as the older version ships them */
	strvec notes; /* what the user should know, a sentence each */
	int lock;     /* of the folder */
};

/*
 * Fetches everything. spec is "NAME" or "NAME=VERSION", NAME a binary or source package; without a
 * version it is the installed one that the update is for. single: the changes are to be files of
 * their own; those of `series`, the path of a list of patches, if there is one. USPL_E_USAGE: no
 * such names, no version and nothing installed, or `to` isn't the later version; USPL_E_FILE: the
 * archives don't have it; USPL_E_BUILD: build dependencies are missing; USPL_E_NO_CHANGE: the
 * versions don't differ in code. The caller releases it also after a failure.
 */
int package_fetch(const char *spec, const char *to, bool single, const char *series,
		  struct package *ret, struct uspl_err *err) uspl_must_check;
/*
 * A name for the update of the two versions, in the form of ids: SOURCE_FROM_TO, shortened with a
 * digest where it is too long for ids, to which so many characters as `room` are to be added.
 * Allocated; NULL when out of memory.
 */
char *package_id(const char *source, const char *from, const char *to, size_t room);
/* The place of one of its files where packages are installed: "/usr/bin/x". Points into path. */
const char *package_file_name(const struct package *package, const char *path);
/* Removes the folder, too. */
void package_release(struct package *package);

DEFINE_AUTO_RELEASE(package, struct package, package_release)
#define auto_package __attribute__((cleanup(cleanup_package_)))

#endif
