/* SPDX-License-Identifier: GPL-3.0-or-later */
/* types_added.h - structures that differ in new members alone */
#ifndef USPL_CREATE_VET_TYPES_ADDED_H
#define USPL_CREATE_VET_TYPES_ADDED_H

#include "create/unit/report_warn.h"
#include "create/vet/types_changed.h"

/*
 * Notes the structure in report->shadowed, if all its old members are as they were and in their
 * order, wherever they lie now, and perhaps under another name; else nothing is done.
 * places: where it has room (types_find_room); one without a tag is noted only if it has some.
 */
int types_note_added(struct type_change *change, const char *places, struct report *report,
		     struct uspl_err *err) uspl_must_check;

#endif
