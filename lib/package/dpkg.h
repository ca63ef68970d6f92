/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dpkg.h - what dpkg's database says of the packages that are installed
 *
 * It is asked by dpkg's own programs, so that its folder may be another one (DPKG_ADMINDIR).
 * USPL_E_SYSTEM, with a hint: this machine has no dpkg.
 */
#ifndef USPL_PACKAGE_DPKG_H
#define USPL_PACKAGE_DPKG_H

#include "base/buf.h"
#include "base/cli.h"

/*
 * Profiles of a build that leave out tests, and packages that no process of this machine runs: of
 * the installer, and for another processor. None changes what another package has in it.
 */
#define DPKG_PROFILES "nocheck noudeb nobiarch"

/* A binary package that is installed. */
struct dpkg_package {
	char *name;           /* "libevent-2.1-7" */
	char *arch;           /* "amd64" */
	char *version;        /* "2.1.12-stable-8" */
	char *source;         /* "libevent" */
	char *source_version; /* mostly the same as version */
};

typedef VEC(struct dpkg_package) dpkg_packages;

/*
 * True for what may be a package's name, or a version of one (Debian policy 5.6.1, 5.6.12). Such a
 * word is no option and no path.
 */
bool dpkg_is_name(const char *name);
bool dpkg_is_version(const char *version);
/* The folder of its database: DPKG_ADMINDIR, or /var/lib/dpkg (dpkg(1)). */
const char *dpkg_folder(void);
/*
 * All that are installed, in the order of their names; also those whose files are, and that are
 * still to be configured: what their services run when they are restarted then is theirs.
 */
int dpkg_installed(dpkg_packages *ret, struct uspl_err *err) uspl_must_check;
void dpkg_release(dpkg_packages *packages);
DEFINE_AUTO_RELEASE(dpkg, dpkg_packages, dpkg_release)
#define auto_dpkg __attribute__((cleanup(cleanup_dpkg_)))

/* The installed package of that name and architecture ("": any); NULL if there is none. */
const struct dpkg_package *dpkg_find(const dpkg_packages *packages, const char *name,
				     const char *arch);
/* A package of that name, or else one that is made of the source of that name; NULL. */
const struct dpkg_package *dpkg_find_any(const dpkg_packages *packages, const char *name);
/* True if version a is a later one than b (deb-version(7)). */
int dpkg_is_later(const char *a, const char *b, bool *ret, struct uspl_err *err) uspl_must_check;
/* Appends the paths of a package's files and folders, each with its line end. */
int dpkg_files(const char *package, struct buf *ret, struct uspl_err *err) uspl_must_check;
/*
 * Finds out which packages have files of these paths: lines "NAME[:ARCH][, NAME...]: PATH", as
 * dpkg-query(1) prints them. Paths that no package has are passed over.
 */
int dpkg_owners(const cli_strings *paths, struct buf *ret, struct uspl_err *err) uspl_must_check;
/*
 * Fetches a binary package of that version by the machine's apt into `folder`, which is made, and
 * unpacks it below `folder`/root. *ret_there is false if it can't be had.
 */
int dpkg_fetch(const char *name, const char *version, const char *folder, bool *ret_there,
	       struct uspl_err *err) uspl_must_check;
/* The version without its epoch, which names of files don't have. Points into it. */
const char *dpkg_without_epoch(const char *version);
/* The version without what a rebuild of the binaries alone adds to it ("+b1"); allocated. */
char *dpkg_source_version(const char *version);
/*
 * Runs one of dpkg's or apt's programs: subprocess_run, but that a program which isn't there is a
 * failure, with a hint that names the package to install.
 */
int dpkg_run(const char *const *argv, const char *folder, struct buf *out, struct buf *errors,
	     struct uspl_err *err) uspl_must_check;
/*
 * The first line in which such a program says what is wrong, without its mark; else the last line.
 * Cuts what it printed into lines, and points into it.
 */
const char *dpkg_complaint(struct buf *errors);

#endif
