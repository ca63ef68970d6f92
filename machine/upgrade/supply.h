/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supply.h - updates of packages: those that are there, those elsewhere, and those that are made */
#ifndef USPL_MACHINE_UPGRADE_SUPPLY_H
#define USPL_MACHINE_UPGRADE_SUPPLY_H

#include "machine/upgrade/remote.h"

/* An update of a package. */
struct supply_update {
	char *path;               /* NULL: it isn't fetched yet */
	struct index_entry entry; /* of one in a folder of this machine: without file and digest */
};

struct supply {
	const char *from; /* the user's folder, or the URL of one; NULL: updates are made */
	char *made;       /* the folder of those that were made, ${XDG_CACHE_HOME}/uspl/upgrades */
	struct remote remote; /* where that is a URL */
	VEC(struct supply_update) updates;
};

/*
 * Reads what there is of updates of packages: in a folder, by the index of a URL (cacert: as
 * remote_open has it), or, for NULL, in the folder of those which were made, which may not be there
 * yet. In a folder, files that are no updates of packages are passed over; one that is damaged gets
 * a note on stderr. A failure: the user's folder can't be read. Errors of remote_open.
 */
int supply_open(const char *from, const char *cacert, struct supply *ret,
		struct uspl_err *err) uspl_must_check;
typedef VEC(struct supply_update *) supply_set;

/*
 * Appends the update of all that these versions differ in or, where there is none, those of single
 * changes, in the order of their names; nothing if there are none, either.
 */
int supply_find(const struct supply *supply, const char *source, const char *from, const char *to,
		supply_set *ret, struct uspl_err *err) uspl_must_check;
/* Fetches it, if it is elsewhere, so that it has a path. Errors of remote_fetch. */
int supply_fetch(const struct supply *supply, struct supply_update *update,
		 struct uspl_err *err) uspl_must_check;
/* The version that the updates to `to` know to have a file with this build-id; NULL: none does. */
const char *supply_version(const struct supply *supply, const char *source, const char *build_id,
			   const char *to);
/*
 * Makes the update by uspl-create, a program of its own, or, if the difference as a whole is
 * refused, those of its changes, and adds them. Its failure, as it says it, is the error;
 * USPL_E_BUILD for all that ended with another status than a refusal.
 */
int supply_make(struct supply *supply, const char *source, const char *from, const char *to,
		struct uspl_err *err) uspl_must_check;
void supply_release(struct supply *supply);

DEFINE_AUTO_RELEASE(supply, struct supply, supply_release)
#define auto_supply __attribute__((cleanup(cleanup_supply_)))

#endif
