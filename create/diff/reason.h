/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reason.h - better reasons than "changed" */
#ifndef USPL_CREATE_DIFF_REASON_H
#define USPL_CREATE_DIFF_REASON_H

#include "base/types.h"

struct diff;
struct uspl_err;

/* Makes better reasons of "changed" where the debugging information knows one. */
int reason_give(struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
