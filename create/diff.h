/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - from two sets of objects to the new code and the pre code of one target
 *
 *     normalise   section-relative references become symbol references
 *     correlate   pair the sections and symbols of each unit's two objects
 *     compare     which pairs differ, to a fixpoint
 *     select      what the new code must carry: changed and new functions, and what they need
 *     vet         reasons to refuse
 *     reason      why each function is in; explain: the same at length
 *     emit        new.o; helpers: other units that the process has to be compared with; pre.o
 */
#ifndef USPL_CREATE_DIFF_H
#define USPL_CREATE_DIFF_H

#include "base/types.h"

struct diff_unit;
struct linked;
struct objfile;
struct report;
struct update_target;
struct uspl_err;

/*
 * linked: the program before the patch (create/unit/linked.h), NULL if it isn't known: then
 * everything in the units counts as being in it. The units stand in the order in which the linker
 * took them. Compares all units of a target and fills target->functions, new_code, pre_code and
 * compiler. Units whose two paths are the same string or whose files are identical may be passed;
 * they are skipped early. USPL_E_NO_CHANGE: no code differs. USPL_E_DATA_CHANGE,
 * USPL_E_UNSUPPORTED: a change that can't be put into a running process, with the symbol, its place
 * in the source, and what to do instead as hint. target->name and soname are set by the caller.
 * What goes through but should be known is added to the report as a warning; also if the target is
 * refused in the end.
 */
int diff_target(const struct diff_unit *units, size_t n, const struct linked *linked,
		struct update_target *target, struct report *report,
		struct uspl_err *err) uspl_must_check;

/*
 * All code of a target before the patch as one object, under the same names as in
 * target->pre_code, which has only that of units that change.
 */
int diff_whole(const struct diff_unit *units, size_t n, const struct linked *linked,
	       struct objfile **ret, struct uspl_err *err) uspl_must_check;

#endif
