/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit_objects.h - the two objects of an update, out of those of all changed units */
#ifndef USPL_CREATE_EMIT_EMIT_OBJECTS_H
#define USPL_CREATE_EMIT_EMIT_OBJECTS_H

#include "base/types.h"

struct diff;
struct objfile;
struct unit;
struct update_target;
struct uspl_err;

/*
 * Which units have pre code that is to be matched: those that carry something, and those that a
 * carried function came from (emit_mark.c).
 */
void emit_mark_units(struct diff *diff);
/* What of a unit's pre build is carried: all its code, and the literals that it refers to. */
void emit_mark_pre(struct unit *unit);
/* Makes new.o. */
int emit_new(struct diff *diff, struct update_target *target, struct uspl_err *err) uspl_must_check;
/* Makes pre.o, with all code of the helpers in it, and the list of redirected functions. */
int emit_pre(struct diff *diff, struct diff *helpers, struct update_target *target,
	     struct uspl_err *err) uspl_must_check;
/*
 * All pre code of all units, the literals that it refers to, and the variables that begin with
 * pointers, as one object.
 */
int emit_whole(struct diff *diff, struct objfile **ret, struct uspl_err *err) uspl_must_check;

#endif
