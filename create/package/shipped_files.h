/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shipped_files.h - the programs and libraries of a source package, as the archive ships them */
#ifndef USPL_CREATE_PACKAGE_SHIPPED_FILES_H
#define USPL_CREATE_PACKAGE_SHIPPED_FILES_H

#include "base/cli.h"
#include "base/strvec.h"
#include "package/dpkg.h"

struct source_package;

/*
 * Fetches the binary packages of that version and unpacks them below `folder`, a folder to be made
 * for each: those that are installed, or, if none is, all that the archives have. Appends the paths
 * of their programs and libraries. Of an installed one that the archives don't have any more it
 * takes the installed files.
 */
int shipped_files_fetch(const struct source_package *source, const dpkg_packages *installed,
			const char *folder, strvec *ret, struct uspl_err *err) uspl_must_check;

#endif
