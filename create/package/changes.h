/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.h - the difference of two versions of a source package, as a whole or change by change */
#ifndef USPL_CREATE_PACKAGE_CHANGES_H
#define USPL_CREATE_PACKAGE_CHANGES_H

#include "base/buf.h"
#include "create/patch/series.h"

struct source_package;

/*
 * Writes the difference of two unpacked versions, called `a` and `b` in one folder, to a file
 * there, and appends that to ret. ret_notes gets what the user should know, a sentence to a line.
 * USPL_E_NO_CHANGE: nothing that is compiled differs.
 */
int changes_whole(const char *folder, const struct source_package *from,
		  const struct source_package *to, series_patches *ret, struct buf *ret_notes,
		  struct uspl_err *err) uspl_must_check;
/*
 * The same with a file for each patch that the newer version's list (debian/patches/series) has
 * more, or, with the path of a series (series_read), for each patch of that one which the older
 * version hasn't; in their order, and one, `rest`, for what differs beside them: patches that were
 * taken out or changed, a newer version of upstream's.
 */
int changes_single(const char *folder, const struct source_package *from,
		   const struct source_package *to, const char *series, series_patches *ret,
		   struct buf *ret_notes, struct uspl_err *err) uspl_must_check;

#endif
