/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * earlier.h - the updates that a process has already when the new one comes
 *
 * What they changed isn't in a program as it was shipped, and can't be matched ahead. But a
 * function that one of them replaced is still known by its old entry (docs/records.md, "Updates on
 * updates"), and the first of them has recorded where that lies in a shipped build.
 */
#ifndef USPL_CREATE_UNIT_EARLIER_H
#define USPL_CREATE_UNIT_EARLIER_H

#include "base/cli.h"
#include "match/match.h"
#include "update/update.h"

/* In the order in which they are applied. */
struct earlier {
	VEC(const struct update *) updates;
	VEC(struct update *) own; /* those of them that were read from files */
};

/* Adds an update, which must outlive the list. */
int earlier_add(struct earlier *earlier, const struct update *update,
		struct uspl_err *err) uspl_must_check;
/* Reads updates from files and adds them. */
int earlier_read(struct earlier *earlier, const cli_strings *paths,
		 struct uspl_err *err) uspl_must_check;
void earlier_release(struct earlier *earlier);
DEFINE_AUTO_RELEASE(earlier, struct earlier, earlier_release)
#define auto_earlier __attribute__((cleanup(cleanup_earlier_)))

/* True if the older update changes a target of the other one. */
bool earlier_changes(const struct update *older, const struct update *update);
/*
 * True if one of them brings code of that refname to the target: then it isn't the program's own.
 */
bool earlier_has(const struct earlier *earlier, const struct update_target *target,
		 const char *refname);
/* True if one of them brings code or data of that refname to the target. */
bool earlier_brings(const struct earlier *earlier, const struct update_target *target,
		    const char *refname);
/*
 * Where the old entry of such a function lies in the build. False: it is in no record, or has none.
 */
bool earlier_place(const struct earlier *earlier, const struct update_target *target,
		   const char *build_id, const char *refname, taddr *ret);
/*
 * Hints for a match of code of the target with a shipped build: code that the updates brought is
 * where its entry is, or nowhere. An array for the caller to free, *ret_n long.
 */
int earlier_hints(const struct earlier *earlier, const struct update_target *target,
		  const char *build_id, const struct objfile *code, struct match_hint **ret,
		  size_t *ret_n, struct uspl_err *err) uspl_must_check;

#endif
