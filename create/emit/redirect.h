/* SPDX-License-Identifier: GPL-3.0-or-later */
/* redirect.h - the list of functions whose entries an update redirects */
#ifndef USPL_CREATE_EMIT_REDIRECT_H
#define USPL_CREATE_EMIT_REDIRECT_H

#include "base/types.h"

struct diff;
struct update_target;
struct uspl_err;

/* The last part of the target: the functions of the program that new.o has new code for. */
int redirect_list(const struct diff *diff, struct update_target *target,
		  struct uspl_err *err) uspl_must_check;

#endif
