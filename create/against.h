/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * against.h - programs as they were shipped, matched ahead on the machine that makes the update
 *
 * All code of a target before the patch is compared with the file, as uspl-apply will compare the
 * update's part of it with the process. What doesn't match is found out here, and not on the
 * machines where the program runs; and since here all of its code is known, functions that look
 * alike can be told apart, which the update then records.
 */
#ifndef USPL_CREATE_AGAINST_H
#define USPL_CREATE_AGAINST_H

#include "create/unit/earlier.h"

struct build;

struct against_options {
	cli_strings paths;  /* the files */
	const char *folder; /* where debugging information of these may be, too; NULL */
	bool of_package;    /* all of a package: files that are no targets are passed over */
	cli_strings after;  /* updates that are applied before this one */
};

/*
 * Matches each file with the target that it is by name or soname (of several of one name, the one
 * whose code it has), or else by its code alone, and adds its record and its build-id to that
 * target. A program that the build links and the patch doesn't change gets a note, and so does one
 * that is none of the targets beside one that is, unless they are all of a package. Of what the
 * earlier updates changed only the place is recorded, if they know it. USPL_E_NO_MATCH: another
 * function that the update changes isn't in the file, or can't be told from another. USPL_E_USAGE:
 * a file is none of the targets.
 */
int against_files(struct build *build, const struct against_options *options,
		  const struct earlier *earlier, struct update *update,
		  struct uspl_err *err) uspl_must_check;

#endif
