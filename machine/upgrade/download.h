/* SPDX-License-Identifier: GPL-3.0-or-later */
/* download.h - a file of a known size at most, by https or from this machine */
#ifndef USPL_MACHINE_UPGRADE_DOWNLOAD_H
#define USPL_MACHINE_UPGRADE_DOWNLOAD_H

#include "base/buf.h"
#include "base/error.h"

/* True for a word that is meant as a URL, of whatever kind: "SCHEME://...". */
bool download_is_url(const char *word);
/*
 * Appends the bytes at `folder`/`name`, at most max. folder is https:// or file://. cacert: a file
 * of certificates that alone are trusted to sign the server's; NULL: the machine's.
 *
 * USPL_E_USAGE: another kind of URL. USPL_E_UNTRUSTED: the server isn't the one it says it is.
 * USPL_E_HOSTILE: there is more than max. USPL_E_FILE: there is no such file, or it can't be had; a
 * server that sends next to nothing for a while is left. USPL_E_SYSTEM: libcurl isn't there.
 */
int download(const char *folder, const char *name, size_t max, const char *cacert, struct buf *ret,
	     struct uspl_err *err) uspl_must_check;

#endif
