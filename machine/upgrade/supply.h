/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supply.h - updates of packages: those that are there, and those that are made */
#ifndef USPL_MACHINE_UPGRADE_SUPPLY_H
#define USPL_MACHINE_UPGRADE_SUPPLY_H

#include "base/strmap.h"
#include "update/update.h"

/* An update of a package, in a folder. */
struct supply_update {
	char *path, *id;
	char *source, *from, *to; /* as update_upgrade */
	VEC(char *) build_ids;    /* of all its targets */
};

struct supply {
	const char *folder; /* the user's, which alone is used; NULL: updates are made */
	char *made; /* the folder of those that were made, ${XDG_CACHE_HOME}/uspl/upgrades */
	VEC(struct supply_update) updates;
};

/*
 * Reads the updates of packages in a folder; NULL: in that of those which were made, which may not
 * be there yet. Files that are no updates of packages are passed over; one that is damaged gets a
 * note on stderr. A failure: the user's folder can't be read.
 */
int supply_open(const char *folder, struct supply *ret, struct uspl_err *err) uspl_must_check;
/* The update of these versions; NULL if there is none. */
const struct supply_update *supply_find(const struct supply *supply, const char *source,
					const char *from, const char *to);
/* The version that the updates to `to` know to have a file with this build-id; NULL: none does. */
const char *supply_version(const struct supply *supply, const char *source, const char *build_id,
			   const char *to);
/*
 * Makes one by uspl-create, a program of its own, and adds it. Its failure, as it says it, is the
 * error; USPL_E_BUILD for all that ended with another status than a refusal.
 */
int supply_make(struct supply *supply, const char *source, const char *from, const char *to,
		struct uspl_err *err) uspl_must_check;
void supply_release(struct supply *supply);

DEFINE_AUTO_RELEASE(supply, struct supply, supply_release)
#define auto_supply __attribute__((cleanup(cleanup_supply_)))

#endif
