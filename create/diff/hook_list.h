/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hook_list.h - the hooks that a patch brings (uspl/hook.h) */
#ifndef USPL_CREATE_DIFF_HOOK_LIST_H
#define USPL_CREATE_DIFF_HOOK_LIST_H

#include "base/types.h"

struct diff;
struct uspl_err;

/*
 * Finds the hooks of the units after the patch, in the order of units and lines, without those that
 * are there before it: an earlier patch of the same sources has brought them. Refuses hooks of
 * another version, and hooks that are functions of the program.
 */
int hook_list_read(struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
