/* SPDX-License-Identifier: GPL-3.0-or-later */
/* literal_place.h - strings that the process has already */
#ifndef USPL_CREATE_DIFF_LITERAL_PLACE_H
#define USPL_CREATE_DIFF_LITERAL_PLACE_H

#include "base/types.h"

struct diff;
struct uspl_err;

/* Lets new code refer to the program's own strings, where these will be found. */
int literal_places(struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
