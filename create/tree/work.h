/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the work folder of one run, and what runs that were killed left behind */
#ifndef USPL_CREATE_TREE_WORK_H
#define USPL_CREATE_TREE_WORK_H

#include "base/types.h"

struct uspl_err;

/*
 * Makes a folder below TMPDIR, which the caller frees the name of and removes, and a lock that says
 * that it is in use, to be closed then. Removes those of this user that nobody uses any more.
 */
int work_make(char **ret, int *ret_lock, struct uspl_err *err) uspl_must_check;

#endif
