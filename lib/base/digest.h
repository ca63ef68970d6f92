/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.h - SHA-256 (FIPS 180-4), by libsodium */
#ifndef USPL_BASE_DIGEST_H
#define USPL_BASE_DIGEST_H

#include <stddef.h>

/* In hex, with the NUL behind it. */
#define DIGEST_HEX 65

/* The digest of len bytes, as sha256sum(1) prints it. Can't fail. */
void digest_hex(const void *data, size_t len, char ret[DIGEST_HEX]);

#endif
