/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subprocess.h - a program that is run to its end, and what it prints */
#ifndef USPL_BASE_SUBPROCESS_H
#define USPL_BASE_SUBPROCESS_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Runs a program, found by PATH, in a folder (NULL: this one), with an empty stdin, LC_ALL=C, and
 * signals as they are in a shell. Its stdout is appended to `out`, its stderr to `errors`; both may
 * be one buffer, which then has them in their order, and each may be NULL: that output is dropped.
 * argv ends with NULL.
 *
 * Returns its exit status, 127 if there is no such program; or USPL_E_CANCELLED if a signal ended
 * it, or a failed system call.
 */
int subprocess_run(const char *const *argv, const char *folder, struct buf *out, struct buf *errors,
		   struct uspl_err *err) uspl_must_check;

#endif
