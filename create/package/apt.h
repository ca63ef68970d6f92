/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apt.h - apt with a configuration of its own, in which the machine's archives give sources, too
 *
 * Most machines have no deb-src entries. So the machine's entries are copied, with deb-src in the
 * place of deb, into a folder below ${XDG_CACHE_HOME:-$HOME/.cache}/uspl, where the lists of
 * sources are kept as well. The machine's own configuration is read (apt-config(8), so that
 * APT_CONFIG counts) and never written. apt checks signatures and sums as always.
 */
#ifndef USPL_CREATE_PACKAGE_APT_H
#define USPL_CREATE_PACKAGE_APT_H

#include "base/buf.h"
#include "base/cli.h"
#include "base/strvec.h"

struct apt {
	char *folder;   /* of all of it */
	strvec options; /* that make it this configuration */
	int lock;       /* held as long as it is open */
	bool is_new;    /* the lists have been fetched by this run */
};

/*
 * Makes or completes the folder, and waits until no other run uses it. The caller releases it also
 * after a failure.
 */
int apt_open(struct apt *ret, struct uspl_err *err) uspl_must_check;
/* Fetches the lists of sources anew. What fails of it is seen by what needs it. */
int apt_update(struct apt *apt, struct uspl_err *err) uspl_must_check;
/*
 * Runs apt-get or apt-cache, the first of the words, in a folder. Returns its exit status, or fails
 * as dpkg_run does.
 */
int apt_run(const struct apt *apt, const cli_strings *words, const char *folder, struct buf *out,
	    struct buf *errors, struct uspl_err *err) uspl_must_check;
void apt_release(struct apt *apt);

DEFINE_AUTO_RELEASE(apt, struct apt, apt_release)
#define auto_apt __attribute__((cleanup(cleanup_apt_)))

#endif
