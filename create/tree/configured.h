/* SPDX-License-Identifier: GPL-3.0-or-later */
/* configured.h - trees that were configured before */
#ifndef USPL_CREATE_TREE_CONFIGURED_H
#define USPL_CREATE_TREE_CONFIGURED_H

#include "base/types.h"

struct buf;
struct build_paths;
struct uspl_err;

/*
 * Adapts the copies of folders that autotools, CMake or Meson configured in the user's tree, for
 * the compilers themselves: they come to name the copy and the wrapper. Appends the shell commands
 * that configure them anew, each with "&& " after it.
 */
int configured_adapt(const struct build_paths *paths, struct buf *commands,
		     struct uspl_err *err) uspl_must_check;
/*
 * Finds the one folder below the tree that CMake was configured in; NULL if there is none.
 * USPL_E_UNSUPPORTED if there are several.
 */
int configured_find_cmake(const char *tree, char **ret, struct uspl_err *err) uspl_must_check;

#endif
