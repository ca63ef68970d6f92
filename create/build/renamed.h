/* SPDX-License-Identifier: GPL-3.0-or-later */
/* renamed.h - programs that a build links under one name and leaves under another */
#ifndef USPL_CREATE_BUILD_RENAMED_H
#define USPL_CREATE_BUILD_RENAMED_H

#include "base/types.h"

struct build_paths;
struct record;
struct uspl_err;

/*
 * Where a program is now that was linked: its output, unless the build renamed or copied it and
 * left nothing there. The caller frees it.
 */
int renamed_find(const struct build_paths *paths, const struct record *link, char **ret,
		 struct uspl_err *err) uspl_must_check;

#endif
