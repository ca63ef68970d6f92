/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flags.h - patched files that say how things are compiled and linked */
#ifndef USPL_CREATE_BUILD_FLAGS_H
#define USPL_CREATE_BUILD_FLAGS_H

#include "base/strvec.h"
#include "create/tree/tree.h"

struct reconfigured;
struct units;
struct uspl_err;

/* May one of the files change the options that sources are compiled with? */
bool flags_may_change(const strvec *patched);

/*
 * Refuses patched linker scripts, and configure scripts that haven't been run since; notes what
 * else takes no effect in a process. After the build after the patch has been taken in.
 */
int flags_check(struct units *units, const strvec *patched, const struct reconfigured *reconfigured,
		struct uspl_err *err) uspl_must_check;

#endif
