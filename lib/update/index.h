/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h - what a folder of updates of packages has, for machines that fetch from it
 *
 * The index is a file beside the updates, uspl-index.json, signed as updates are
 * (trust/signature.h). It has the digest and the size of each update, and what tells which
 * processes an update is for; so nothing else has to be fetched to find out what is needed, and
 * what is fetched then is what was signed. docs/update-format.md, "The index of a folder", has its
 * form.
 */
#ifndef USPL_UPDATE_INDEX_H
#define USPL_UPDATE_INDEX_H

#include "base/digest.h"
#include "base/strvec.h"
#include "update/update.h"

#define INDEX_NAME "uspl-index.json"
#define INDEX_FORMAT 1

struct index_entry {
	char *file; /* its name in the folder */
	char *id, *sha256;
	struct update_upgrade upgrade;
	strvec build_ids;   /* in hex, of all its targets */
	uint64_t size;      /* in bytes */
	bool has_signature; /* there is a FILE.sig, too */
};

typedef VEC(struct index_entry) index_entries;

/* Fills in an entry for an update of a package; the file's size, digest, name are the caller's. */
int index_entry_fill(const struct update *update, struct index_entry *ret,
		     struct uspl_err *err) uspl_must_check;
void index_entry_release(struct index_entry *entry);
/*
 * Reads an index. USPL_E_FORMAT: of a newer format. USPL_E_FILE: no JSON, a key missing, a value of
 * the wrong form. USPL_E_HOSTILE: too large, or a file listed twice.
 */
int index_read(const char *text, size_t len, index_entries *ret,
	       struct uspl_err *err) uspl_must_check;
/* Appends the index: entries as they are, in their order. */
int index_write(const index_entries *entries, struct buf *ret,
		struct uspl_err *err) uspl_must_check;
void index_release(index_entries *entries);

DEFINE_AUTO_RELEASE(index, index_entries, index_release)
#define auto_index __attribute__((cleanup(cleanup_index_)))

#endif
