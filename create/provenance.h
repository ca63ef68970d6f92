/* SPDX-License-Identifier: GPL-3.0-or-later */
/* provenance.h - what an update was made of: the source package, and when */
#ifndef USPL_CREATE_PROVENANCE_H
#define USPL_CREATE_PROVENANCE_H

#include "create/options.h"
#include "update/update.h"

/*
 * The time that updates are given: SOURCE_DATE_EPOCH of the environment, in seconds since the epoch
 * (reproducible-builds.org), else the present time. *ret_fixed: it is the former. USPL_E_USAGE if
 * that isn't a time.
 */
int provenance_time(int64_t *ret, bool *ret_fixed, struct uspl_err *err) uspl_must_check;
/*
 * An id that the same patches give each time: the beginning of the SHA-256 of their texts. False if
 * one of them isn't a regular file that can be read.
 */
bool provenance_id(const struct create_options *options, char ret[OPTIONS_ID_LEN + 1]);
/*
 * Fills in package and version of the source tree, by the first entry of debian/changelog
 * (deb-changelog(5)); a tree without one has none. The strings are the update's.
 */
int provenance_package(const char *source, struct update *update,
		       struct uspl_err *err) uspl_must_check;
/*
 * Says in an update, whose package is filled in, that this version of it has what the update
 * brings; change: a name for that. USPL_E_USAGE: it is no version, or the package isn't known.
 */
int provenance_fixed_in(const char *version, const char *change, struct update *update,
			struct uspl_err *err) uspl_must_check;

#endif
