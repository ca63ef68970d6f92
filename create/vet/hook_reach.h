/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hook_reach.h - what the hooks of a patch may call */
#ifndef USPL_CREATE_VET_HOOK_REACH_H
#define USPL_CREATE_VET_HOOK_REACH_H

#include "base/types.h"

struct diff;
struct uspl_err;

/*
 * Refuses a hook that runs before the switch and comes to a function that is switched: it would
 * call the old one. And a hook that runs while all threads stand still and comes to a system call,
 * a call through a pointer, or a function that isn't known to do without locks
 * (docs/authors.md, "At a standstill"). To be called when it is known what is carried.
 */
int hook_reach_check(struct diff *diff, struct uspl_err *err) uspl_must_check;

#endif
