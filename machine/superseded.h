/* SPDX-License-Identifier: GPL-3.0-or-later */
/* superseded.h - whether the packages that are installed have what an update brings */
#ifndef USPL_MACHINE_SUPERSEDED_H
#define USPL_MACHINE_SUPERSEDED_H

#include "package/dpkg.h"
#include "update/update.h"

/*
 * Reads what is installed, for superseded_by. Empty where dpkg can't tell, as on a machine that has
 * no dpkg: then no update is superseded.
 */
int superseded_read_installed(dpkg_packages *ret, struct uspl_err *err) uspl_must_check;
/*
 * The installed version of the update's source package (update_upgrade) if that has its fix: if
 * some package of that source is installed, and all that are have the version that the update
 * names, or a later one. NULL otherwise; owned by `installed`.
 */
int superseded_by(const struct update *update, const dpkg_packages *installed, const char **ret,
		  struct uspl_err *err) uspl_must_check;

#endif
