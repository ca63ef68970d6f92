/* SPDX-License-Identifier: GPL-3.0-or-later */
/* targets.h - from what was built to the targets of an update */
#ifndef USPL_CREATE_TARGETS_H
#define USPL_CREATE_TARGETS_H

#include "base/cli.h"
#include "create/unit/earlier.h"
#include "create/unit/report_warn.h"
#include "update/update.h"

struct build;

/* File names or paths in the tree, '%' for any text. */
struct targets_wanted {
	cli_strings names;    /* only these; none: all */
	cli_strings excluded; /* not these */
	bool reproducible;    /* build-ids that depend on where the copy was built are left out */
};

/*
 * earlier: the updates that a process has already. Appends a target to the update for each program
 * and library that is wanted and whose code differs between the builds; what no package ships is
 * left out, with a note, unless names say what is wanted. USPL_E_NO_CHANGE: the code of none
 * differs. USPL_E_USAGE: no name is one of a program. USPL_E_UNSUPPORTED: the change is in no
 * program, or only in programs that are built to count what runs in them (beside others these are
 * left out, with a warning), or as diff_target says, which also fills in the report.
 */
int targets_add(struct build *build, const struct targets_wanted *wanted,
		const struct earlier *earlier, struct update *update, struct report *report,
		struct uspl_err *err) uspl_must_check;
/* What of the build the target was made from; NULL: nothing. */
const struct build_link *target_link(const struct build *build, const struct update_target *target);

/*
 * The units of a program as the differ takes them: link->units.n of them, the caller's to free,
 * which point into build. NULL when out of memory.
 */
struct diff_unit *target_units(const struct build *build, const struct build_link *link);

#endif
