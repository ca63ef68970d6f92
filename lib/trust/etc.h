/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * etc.h - what the administrator of the machine has laid down: /etc/uspl
 *
 * The folder, and each file that is read from it, must belong to root or to the user that runs the
 * command, and no other user may be able to write to it. Otherwise the read fails, and what depends
 * on it is refused: it never counts as absent.
 */
#ifndef USPL_TRUST_ETC_H
#define USPL_TRUST_ETC_H

#include "base/buf.h"
#include "base/error.h"
#include "base/strvec.h"

#define ETC_DIR "/etc/uspl"

/*
 * The folder's path. The variable USPL_ETC of the environment names another one, for tests, but
 * only as long as /etc/uspl doesn't exist: a command that is run with more rights than its user has
 * can't be led away from the machine's policy. It is ignored in programs that gain rights by being
 * executed (secure_getenv(3)).
 */
const char *etc_folder(void);
/*
 * Reads a file of the folder, or of a folder in it: "keys.d/x.pub". *ret_there is false, and buf
 * stays empty, if there is none. Fails with USPL_E_POLICY if it can't be read, if others may write
 * to it, or if it isn't a regular file of at most CONF_MAX_BYTES (conf.h).
 */
int etc_read(const char *name, struct buf *buf, bool *ret_there,
	     struct uspl_err *err) uspl_must_check;
/*
 * The names of the files of a folder in it that end in `suffix`, in order; none if it doesn't
 * exist. Fails as etc_read does. The names are the caller's to release.
 */
int etc_list(const char *name, const char *suffix, strvec *ret,
	     struct uspl_err *err) uspl_must_check;

#endif
