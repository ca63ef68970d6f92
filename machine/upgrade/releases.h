/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * releases.h - the versions of packages: installed, offered, and those that processes run
 *
 * What is installed is dpkg's to say, what is offered apt's, by the lists that it fetched last.
 * Which version a file in memory came from is told by its build-id: if the file on disk has it, it
 * is the installed one; else the versions that apt still has are fetched and looked into.
 */
#ifndef USPL_MACHINE_UPGRADE_RELEASES_H
#define USPL_MACHINE_UPGRADE_RELEASES_H

#include "base/strmap.h"
#include "machine/upgrade/running.h"
#include "package/dpkg.h"

/* Where a source package stands. */
struct release {
	char *source;
	char *installed; /* its source version */
	char *newest;    /* of the one installed and the one offered */
};

struct releases {
	dpkg_packages installed;
	struct strmap owners;   /* a path: its struct dpkg_package */
	struct strmap on_disk;  /* a path: the build-id of the file there, "" for none */
	struct strmap sources;  /* a source package's name: its struct release */
	struct strmap archived; /* a build-id: the source version that has it */
	struct strmap fetched;  /* names of packages whose versions have been looked into */
};

/* Reads what is installed. */
int releases_open(struct releases *ret, struct uspl_err *err) uspl_must_check;
/*
 * The source package that a package belongs to, or that is called so, if it is installed; NULL if
 * it isn't. Owned by the releases.
 */
const char *releases_source(const struct releases *releases, const char *name);
/* Finds out which packages have the files that run, and what is installed and offered of these. */
int releases_read(struct releases *releases, const struct running *running,
		  struct uspl_err *err) uspl_must_check;
/* The package that has a file of this path; NULL if none has. */
const struct dpkg_package *releases_owner(const struct releases *releases, const char *path);
/* Where a source package stands; never NULL for that of an owner. */
const struct release *releases_of(const struct releases *releases, const char *source);
/* True if the file on disk has the module's build-id. */
bool releases_is_on_disk(const struct releases *releases, const struct running_module *module);
/*
 * The version whose packages have a file with this build-id, of those that apt has beside the
 * installed one; "" if none has. Fetches them, once. Owned by the releases.
 */
int releases_find_archived(struct releases *releases, const struct dpkg_package *owner,
			   const char *build_id, const char **ret,
			   struct uspl_err *err) uspl_must_check;
void releases_release(struct releases *releases);

DEFINE_AUTO_RELEASE(releases, struct releases, releases_release)
#define auto_releases __attribute__((cleanup(cleanup_releases_)))

#endif
