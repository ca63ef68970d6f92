/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the work folder of one run, and what runs that were killed left behind */
#ifndef USPL_CREATE_TREE_WORK_H
#define USPL_CREATE_TREE_WORK_H

#include "base/types.h"

struct uspl_err;

/*
 * Makes a folder below TMPDIR, and a lock that says that it is in use. The caller removes the
 * folder, frees its name and then closes the lock. Removes this user's folders that no run uses any
 * more.
 */
int work_make(char **ret, int *ret_lock, struct uspl_err *err) uspl_must_check;

#endif
