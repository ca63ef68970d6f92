/* SPDX-License-Identifier: GPL-3.0-or-later */
/* select.h - what the new code has to carry */
#ifndef USPL_CREATE_DIFF_SELECT_H
#define USPL_CREATE_DIFF_SELECT_H

#include "base/types.h"

struct diff;
struct uspl_err;

/* Marks everything that new.o has to carry. */
int select_parts(struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
