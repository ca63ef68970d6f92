/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.h - tries an update with a program's file, as uspl-apply tries it with a process
 *
 * The same matcher, the same meaning of names, the same linker. What depends on the process (where
 * there is room, what its threads do, which libraries it has loaded by itself) can't be known here,
 * and isn't held against the update.
 */
#ifndef USPL_CREATE_FIT_H
#define USPL_CREATE_FIT_H

#include "create/unit/earlier.h"
#include "create/unit/linked.h"

/* A target of an update and the file of a program. */
struct fit {
	const struct build *build;
	struct update_target *target;
	const struct image_file *file;
	const struct earlier *earlier;
	struct match *match; /* after fit_match; the caller frees it */
	/* What the patch brings to other programs, looked up when it is needed; NULL: not asked. */
	struct brought *brought;
};

/*
 * Compares code of the target's (its pre_code, or all of the program's) with the file, and refuses
 * (USPL_E_NO_MATCH) if a function that the update changes isn't there, or can't be told from
 * another. What earlier updates have changed isn't looked for.
 */
int fit_match(struct fit *fit, const struct objfile *code, struct uspl_err *err) uspl_must_check;

/*
 * Links the new code with what its names mean in the program, after fit_match with pre_code.
 * USPL_E_UNRESOLVED: a name means nothing. USPL_E_UNSUPPORTED: what can't be linked.
 */
int fit_link(struct fit *fit, struct uspl_err *err) uspl_must_check;

/*
 * Tries each target of the update that wasn't matched with a shipped file with the program that the
 * build linked before the patch.
 */
int fit_update(const struct build *build, struct update *update,
	       struct uspl_err *err) uspl_must_check;

#endif
