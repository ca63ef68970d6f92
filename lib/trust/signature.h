/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signature.h - the signature of an update: a file beside it, FILE.sig
 *
 * It is a text (conf.h): the key's id, the SHA-256 and the length of the update's bytes, the time,
 * a comment, and last the ed25519 signature of all lines before that one. So the digest that the
 * target's record and the list of enabled updates have is what was signed, and what is said of it
 * is signed, too. A detached one leaves the update's bytes as the same inputs make them, can be
 * added and exchanged later, and is checked before a byte of the archive is looked at.
 */
#ifndef USPL_TRUST_SIGNATURE_H
#define USPL_TRUST_SIGNATURE_H

#include "base/digest.h"
#include "trust/key.h"

#define SIGNATURE_SUFFIX ".sig"
#define SIGNATURE_MAX_BYTES 4096u
#define SIGNATURE_COMMENT_MAX 512

/* What a command asks of an update's file. */
struct signature_terms {
	bool required;
	/*
	 * The time at which the key must not have expired: that of the check, or, of an update that
	 * was checked when it was enabled, that time. 0: the check's.
	 */
	int64_t when;
	const struct key *only; /* that key, whatever the machine knows; NULL: the machine's */
};

/* What a good signature says; key is "" if there is none. */
struct signature_signer {
	char key[KEY_ID_HEX];
	char name[KEY_NAME_MAX]; /* of the key, as the machine's folder of keys has it */
	int64_t signed_at;       /* as the signer says */
	char comment[SIGNATURE_COMMENT_MAX];
};

/*
 * Appends the text of the signature of these bytes. comment: "" for none. USPL_E_USAGE: the comment
 * isn't one line of clean text, of at most 511 bytes.
 */
int signature_make(const void *data, size_t len, const struct key_secret *secret,
		   const char *comment, int64_t now, struct buf *ret,
		   struct uspl_err *err) uspl_must_check;
/*
 * Checks the bytes of an update that were read from `path` against the file path.sig and the
 * machine's keys.
 *
 * One whose key the machine doesn't know counts as none, like a file that is missing: that is
 * USPL_E_UNTRUSTED if a signature is required. One whose key is known must be good in any case, and
 * USPL_E_UNTRUSTED is also that the key is revoked, or has expired at the time of the terms.
 * USPL_E_POLICY: the keys can't be read. *ret_text gets the signature's text, if that counts.
 */
int signature_check_file(const char *path, const void *data, size_t len,
			 const struct signature_terms *terms, struct signature_signer *ret,
			 struct buf *ret_text, struct uspl_err *err) uspl_must_check;
/* "PATH.sig", allocated; NULL when out of memory. */
char *signature_path(const char *path);

#endif
