/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key.h - the keys that updates are signed with: ed25519 (RFC 8032), by libsodium
 *
 * A key's id is the beginning of the SHA-256 of its public half, so that no key can have another
 * one's. Both halves are files of text (conf.h), which docs/update-format.md describes. What a
 * public key is called, until when it is good, and that it is revoked, stands in its file, and
 * counts since root alone can write in the folder of keys (etc.h): none of it is signed.
 */
#ifndef USPL_TRUST_KEY_H
#define USPL_TRUST_KEY_H

#include "base/buf.h"
#include "base/error.h"

/* In the folder of etc.h; a public key's file is called NAME.pub. */
#define KEY_FOLDER "keys.d"
#define KEY_SUFFIX ".pub"

#define KEY_ID_HEX 17 /* with its NUL */
#define KEY_NAME_MAX 64
#define KEY_PUBLIC_LEN 32
#define KEY_SECRET_LEN 64 /* as libsodium has it: the seed, and the public half */

/* A public key. */
struct key {
	char id[KEY_ID_HEX]; /* "": no key */
	char name[KEY_NAME_MAX];
	unsigned char bytes[KEY_PUBLIC_LEN];
	int64_t not_after; /* seconds since the epoch; 0: it has no end */
	bool revoked;
};

struct key_secret {
	char id[KEY_ID_HEX];
	unsigned char bytes[KEY_SECRET_LEN];
};

/*
 * Makes a key, and appends the texts of its two files. not_after: 0 for none. USPL_E_USAGE: the
 * name has more than 63 bytes, or isn't A-Z, a-z, 0-9, '_', '.', '-'.
 */
int key_make(const char *name, int64_t not_after, struct buf *ret_public, struct buf *ret_secret,
	     struct uspl_err *err) uspl_must_check;
/* Reads the text of a public key's file. USPL_E_FILE: it isn't one, or its id isn't the key's. */
int key_read(const char *text, size_t len, struct key *ret, struct uspl_err *err) uspl_must_check;
/*
 * Reads a secret key's file. USPL_E_FILE: it isn't one. USPL_E_UNTRUSTED: other users may read it.
 * The caller wipes it when it is used: key_secret_wipe.
 */
int key_secret_read(const char *path, struct key_secret *ret, struct uspl_err *err) uspl_must_check;
void key_secret_wipe(struct key_secret *secret);
/*
 * Looks for a key in the machine's folder of keys; ret->id is "" if there is none. Several files
 * may have one key: it is revoked if one of them says so, and good until the first end that one of
 * them names. USPL_E_POLICY: a file there can't be read, or isn't a key: it could say that this one
 * is revoked.
 */
int key_find(const char *id, struct key *ret, struct uspl_err *err) uspl_must_check;

DEFINE_AUTO_RELEASE(key_secret, struct key_secret, key_secret_wipe)
#define auto_key_secret __attribute__((cleanup(cleanup_key_secret_)))

#endif
