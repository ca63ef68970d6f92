/* SPDX-License-Identifier: GPL-3.0-or-later */
/* difference.h - what two versions of a source package differ in, as far as it is compiled */
#ifndef USPL_CREATE_PACKAGE_DIFFERENCE_H
#define USPL_CREATE_PACKAGE_DIFFERENCE_H

#include "base/buf.h"
#include "base/error.h"

struct source_package;

/*
 * Appends the difference of two unpacked versions as a unified diff. They are in one folder, in
 * which the newer one is called `b`, and the older one has a name as short. Left out is what builds
 * no code: packaging, the list of patches where they are applied already, the version. Names of
 * files that aren't text are appended to ret_binary. USPL_E_NO_CHANGE: nothing is left.
 */
int difference_make(const char *folder, const char *was, const struct source_package *from,
		    const struct source_package *to, struct buf *ret, struct buf *ret_binary,
		    struct uspl_err *err) uspl_must_check;

#endif
