// SPDX-License-Identifier: GPL-3.0-or-later
// digest.c - SHA-256, by libsodium

#include "base/digest.h"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

void digest_hex(const void *data, size_t len, char ret[DIGEST_HEX])
{
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, data, len);
	sodium_bin2hex(ret, DIGEST_HEX, digest, sizeof(digest));
}
