/* SPDX-License-Identifier: GPL-3.0-or-later */
/* git.h - what a build may ask git of the tree's copy */
#ifndef USPL_CREATE_TREE_GIT_H
#define USPL_CREATE_TREE_GIT_H

#include "base/strvec.h"
#include "create/tree/tree.h"

struct build_paths;
struct uspl_err;

/*
 * Makes the copy a git repository of its own, if the tree is one, with all that the tree's
 * repository knows. A tree below a repository's root, or a work tree that refers to one, stays
 * without.
 */
int git_copy(const struct build_paths *paths, struct uspl_err *err) uspl_must_check;
/* Makes git take the files for unchanged; without git, or a repository, does nothing. */
void git_hide_changes(const struct build_paths *paths, const strvec *patched);

#endif
