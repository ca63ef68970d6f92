/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * remote.h - a folder of updates with a signed index, elsewhere
 *
 * What is fetched is kept in ${XDG_CACHE_HOME:-~/.cache}/uspl/fetched, in a folder for each URL. Of
 * the folder elsewhere nothing is believed but what a key that the machine knows has signed: the
 * index, and by the digests in it the updates.
 */
#ifndef USPL_MACHINE_UPGRADE_REMOTE_H
#define USPL_MACHINE_UPGRADE_REMOTE_H

#include "update/index.h"

struct remote {
	const char *url, *cacert; /* as download() has them */
	char *folder;             /* where it is kept */
	index_entries entries;
};

/*
 * Fetches the index and checks it. USPL_E_UNTRUSTED: it isn't signed with a good key of this
 * machine's, or it was signed before one that was fetched earlier.
 * The rest as download and index_read. The caller releases it also after a failure.
 */
int remote_open(const char *url, const char *cacert, struct remote *ret,
		struct uspl_err *err) uspl_must_check;
/*
 * Fetches an update, unless it is there, and its signature. *ret is its path, allocated.
 * USPL_E_UNTRUSTED: it isn't the file that the index is of.
 */
int remote_fetch(const struct remote *remote, const struct index_entry *entry, char **ret,
		 struct uspl_err *err) uspl_must_check;
void remote_release(struct remote *remote);

#endif
