/* SPDX-License-Identifier: GPL-3.0-or-later */
/* states.h - are line numbers states of a program, where they can't be kept? */
#ifndef USPL_CREATE_BUILD_STATES_H
#define USPL_CREATE_BUILD_STATES_H

#include "base/strvec.h"
#include "create/tree/tree.h"

struct numbering;
struct units;
struct uspl_err;

/*
 * Refuses a patched source in which unchanged lines have got other numbers, if one of the files
 * that it is compiled from says `case __LINE__`: the process has such numbers as states. Likewise
 * one that the build writes anew by itself. After the build after the patch has been taken in.
 */
int states_check(struct units *units, const struct numbering *numbering, const strvec *patched,
		 struct uspl_err *err) uspl_must_check;

#endif
