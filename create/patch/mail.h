/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mail.h - turns mails and mailboxes into the text that they carry */
#ifndef USPL_CREATE_PATCH_MAIL_H
#define USPL_CREATE_PATCH_MAIL_H

#include "base/types.h"

struct buf;
struct uspl_err;

/*
 * Appends a text; of a mail, or a mailbox, its subjects and bodies without what mail programs have
 * made of them.
 */
int mail_decode(const char *text, size_t len, struct buf *ret,
		struct uspl_err *err) uspl_must_check;

#endif
