/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wanted.h - the updates that this machine is to have, whatever is started anew
 *
 * They lie in one folder, which only its owner may write to: a file uspl-ID.tar.gz for each, with
 * uspl-ID.tar.gz.sig if its signature was checked (trust/signature.h), and the list of them,
 * SHA256SUMS, in the form of sha256sum(1) and in the order in which they were enabled. What isn't
 * on the list isn't wanted. An empty file uspl-ID.keep beside says that it stays wanted when a
 * package that is installed has its fix (superseded.h), and uspl-ID.debug is its debugging
 * information. A file is written aside, synchronised and
 * put in place as a whole, and the list after it: a tool that is killed, a machine that goes down,
 * and a full disk leave the list as it was or as it should be.
 */
#ifndef USPL_MACHINE_WANTED_H
#define USPL_MACHINE_WANTED_H

#include <time.h>

#include "base/digest.h"
#include "update/update.h"

/* Unless the environment has another one, in USPL_STATE. */
#define WANTED_DIR "/var/lib/uspl"

struct wanted_update {
	char *id;
	char *path; /* of its file */
	char digest[DIGEST_HEX];
	time_t since; /* when it was enabled; 0: its file is missing */
	bool keep;    /* also where the package that is installed has its fix */
};

typedef VEC(struct wanted_update) wanted_vec;

/* The folder's path. */
const char *wanted_folder(void);
/* Makes the folder, if it isn't there. */
int wanted_make_folder(struct uspl_err *err) uspl_must_check;
/* True for the name of the list's file in it. */
bool wanted_is_list(const char *name);
/*
 * Reads the list; empty if there is no folder. USPL_E_HOSTILE: others than the user or root may
 * write to the folder. USPL_E_FILE: the list is damaged.
 */
int wanted_read(wanted_vec *ret, struct uspl_err *err) uspl_must_check;
void wanted_release(wanted_vec *list);
/* The one of that id, NULL if it isn't wanted. */
const struct wanted_update *wanted_find(const wanted_vec *list, const char *id);
/*
 * Reads its file. USPL_E_FILE: it is missing, or isn't what was enabled (the digest differs). The
 * rest as update_read_signed; its key may have expired since the update was enabled, but not have
 * been revoked. terms: NULL for an update that is only looked at.
 */
int wanted_load(const struct wanted_update *wanted, const struct signature_terms *terms,
		struct update **ret, struct uspl_err *err) uspl_must_check;
/*
 * Adds an update that was read by update_read_signed, with its signature: the bytes that were read
 * then. *ret_new is false if the same file was there; keep counts then, too. USPL_E_CONFLICT:
 * another file of the same id is enabled. USPL_E_USAGE: it was an unpacked one, in that folder.
 */
int wanted_add(const char *path, const struct update *update, bool keep, bool *ret_new,
	       struct uspl_err *err) uspl_must_check;
/*
 * Adds the debug file (update/debug_file.h) that lies beside an update which was added, if one
 * does. One that isn't that update's is refused, and isn't taken.
 */
int wanted_add_debug(const char *path, const struct update *update,
		     struct uspl_err *err) uspl_must_check;
/* Removes it. USPL_E_NOT_APPLIED: it isn't wanted. */
int wanted_remove(const char *id, struct uspl_err *err) uspl_must_check;

DEFINE_AUTO_RELEASE(wanted, wanted_vec, wanted_release)
#define auto_wanted __attribute__((cleanup(cleanup_wanted_)))

#endif
