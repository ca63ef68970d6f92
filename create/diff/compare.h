/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.h - which functions and variables differ between the two builds */
#ifndef USPL_CREATE_DIFF_COMPARE_H
#define USPL_CREATE_DIFF_COMPARE_H

#include "base/types.h"

struct diff;
struct uspl_err;

/*
 * Sets secinfo.reason of all functions that differ and of the constant tables that changed with
 * them, and syminfo.changed of variables whose size or initial contents differ.
 */
int compare(struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
