/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vet_adopt.h - initial values that a process may take over while its functions are switched
 * (uspl-create --adopt-data)
 *
 * A variable whose initial value changes, and which still has the old one in the process, may be
 * given the new one if no code can tell but code that is replaced: it is static, so only its unit
 * knows its name; nothing has its address, so no other code can come to it; and each instruction
 * that reads it is in a function that the update replaces. None of these runs at the switch, so
 * that no thread has read the old value and is still about to use it. Functions that aren't
 * replaced may write it: then the process has another value, and the update is refused there.
 * docs/create.md has the cases.
 */
#ifndef USPL_CREATE_VET_VET_ADOPT_H
#define USPL_CREATE_VET_VET_ADOPT_H

#include "base/types.h"

struct buf;
struct diff;
struct objsym;
struct unit;
struct update_target;
struct uspl_err;

/*
 * True if the variable of a post object, whose initial value changes, is one of these; else adds to
 * `why` what is against it, the rest of a sentence about it.
 */
bool vet_adopt_is_possible(const struct unit *unit, const struct objsym *sym, struct buf *why);
/* Adds those of all units to the target, if they are asked for. */
int vet_adopt_list(const struct diff *diff, struct update_target *target,
		   struct uspl_err *err) uspl_must_check;

#endif
