// SPDX-License-Identifier: GPL-3.0-or-later
// key.c - the keys that updates are signed with

#include "trust/key.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <sodium/core.h>
#include <sodium/crypto_sign_ed25519.h>
#include <sodium/utils.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/strvec.h"
#include "trust/conf.h"
#include "trust/etc.h"

#define PUBLIC_FORMAT "uspl-public-key 1"
#define SECRET_FORMAT "uspl-secret-key 1"
#define BASE64 sodium_base64_VARIANT_ORIGINAL

_Static_assert(KEY_PUBLIC_LEN == crypto_sign_ed25519_PUBLICKEYBYTES, "libsodium's");
_Static_assert(KEY_SECRET_LEN == crypto_sign_ed25519_SECRETKEYBYTES, "libsodium's");

static void make_id(const unsigned char *public_bytes, char id[KEY_ID_HEX])
{
	char digest[DIGEST_HEX];

	digest_hex(public_bytes, KEY_PUBLIC_LEN, digest);
	snprintf(id, KEY_ID_HEX, "%.*s", KEY_ID_HEX - 1, digest);
}

static void add_base64(struct buf *buf, const char *key, const unsigned char *bytes, size_t len)
{
	char text[sodium_base64_ENCODED_LEN(KEY_SECRET_LEN, BASE64)];

	sodium_bin2base64(text, sizeof(text), bytes, len, BASE64);
	buf_addf(buf, "%s = %s\n", key, text);
	sodium_memzero(text, sizeof(text));
}

static bool read_base64(const char *text, unsigned char *ret, size_t len)
{
	size_t got = 0;

	return text &&
	       sodium_base642bin(ret, len, text, strlen(text), NULL, &got, NULL, BASE64) == 0 &&
	       got == len;
}

static bool name_is_valid(const char *name)
{
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789_.-");

	return len && !name[len] && len < KEY_NAME_MAX && *name != '.' && *name != '-';
}

int key_make(const char *name, int64_t not_after, struct buf *ret_public, struct buf *ret_secret,
	     struct uspl_err *err)
{
	unsigned char public_bytes[KEY_PUBLIC_LEN], secret_bytes[KEY_SECRET_LEN];
	char id[KEY_ID_HEX], end[CLOCK_UTC_LEN];

	if (!name_is_valid(name)) {
		uspl_fail(err, USPL_E_USAGE, "a key can't be called '%s'", name);
		uspl_hint(err, "a name has 1 to 63 characters of a-z, A-Z, 0-9, '_', '.' and '-', "
			       "and begins with a letter or a digit");
		return -USPL_E_USAGE;
	}
	if (sodium_init() < 0)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot get random bytes");
	crypto_sign_ed25519_keypair(public_bytes, secret_bytes);
	make_id(public_bytes, id);
	buf_addf(ret_public, "format = " PUBLIC_FORMAT "\nid = %s\nname = %s\n", id, name);
	add_base64(ret_public, "key", public_bytes, sizeof(public_bytes));
	if (not_after && clock_utc_text(not_after, end))
		buf_addf(ret_public, "not-after = %s\n", end);
	buf_addf(ret_secret, "format = " SECRET_FORMAT "\nid = %s\n", id);
	add_base64(ret_secret, "key", secret_bytes, sizeof(secret_bytes));
	sodium_memzero(secret_bytes, sizeof(secret_bytes));
	return ret_public->oom || ret_secret->oom ? uspl_fail_nomem(err) : 0;
}

/* The lines of a key's file, of which `format` says what it is. */
static int read_lines(const char *text, size_t len, const char *format, const char *const *keys,
		      struct conf *ret, struct uspl_err *err)
{
	const char *have;
	int rc = conf_read(text, len, ret, err);

	if (rc)
		return rc;
	have = conf_value(ret, "format");
	if (!have || strcmp(have, format) != 0)
		return uspl_fail(err, USPL_E_FILE, "it does not begin with 'format = %s'", format);
	return conf_check_keys(ret, keys, err);
}

int key_read(const char *text, size_t len, struct key *ret, struct uspl_err *err)
{
	static const char *const keys[] = { "format",    "id",      "name", "key",
					    "not-after", "revoked", NULL };
	auto_conf struct conf conf = { 0 };
	struct key key = { 0 };
	const char *id, *name, *end;
	int rc = read_lines(text, len, PUBLIC_FORMAT, keys, &conf, err);

	if (rc)
		return rc;
	if (!read_base64(conf_value(&conf, "key"), key.bytes, sizeof(key.bytes)))
		return uspl_fail(err, USPL_E_FILE, "its 'key' is missing or wrong");
	make_id(key.bytes, key.id);
	id = conf_value(&conf, "id");
	if (!id || strcmp(id, key.id) != 0)
		return uspl_fail(err, USPL_E_FILE, "its 'id' is not that of its key, '%s'", key.id);
	name = conf_value(&conf, "name");
	if (!name || !name_is_valid(name))
		return uspl_fail(err, USPL_E_FILE, "its 'name' is missing or wrong");
	snprintf(key.name, sizeof(key.name), "%s", name);
	end = conf_value(&conf, "not-after");
	if (end && !clock_utc_read(end, &key.not_after))
		return uspl_fail(err, USPL_E_FILE,
				 "its 'not-after' is not a time in UTC, such as "
				 "2027-12-31T00:00:00Z");
	key.revoked = conf_value(&conf, "revoked") != NULL;
	*ret = key;
	return 0;
}

static int read_secret_file(const char *path, struct buf *buf, struct uspl_err *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return uspl_fail_errno(err, "cannot open the key '%s'", path);
	if (!S_ISREG(st.st_mode))
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO)) {
		uspl_fail(err, USPL_E_UNTRUSTED, "other users may use the secret key '%s'", path);
		uspl_hint(err, "'chmod 600' it, and make a new one if another may have read it");
		return -USPL_E_UNTRUSTED;
	}
	if (st.st_size > CONF_MAX_BYTES)
		return uspl_fail(err, USPL_E_FILE, "'%s' is not a secret key", path);
	return file_read_fd(fd, path, buf, err);
}

int key_secret_read(const char *path, struct key_secret *ret, struct uspl_err *err)
{
	static const char *const keys[] = { "format", "id", "key", NULL };
	auto_conf struct conf conf = { 0 };
	auto_buf struct buf text = { 0 };
	int rc = read_secret_file(path, &text, err);

	if (rc)
		return rc;
	rc = read_lines(buf_str(&text), text.len, SECRET_FORMAT, keys, &conf, err);
	if (!rc && !read_base64(conf_value(&conf, "key"), ret->bytes, sizeof(ret->bytes)))
		rc = uspl_fail(err, USPL_E_FILE, "its 'key' is missing or wrong");
	if (conf.text)
		sodium_memzero(conf.text, text.len);
	if (text.data)
		sodium_memzero(text.data, text.len);
	if (rc) {
		uspl_context(err, "'%s' is not a secret key", path);
		return rc;
	}
	make_id(ret->bytes + KEY_SECRET_LEN - KEY_PUBLIC_LEN, ret->id);
	return 0;
}

void key_secret_wipe(struct key_secret *secret)
{
	sodium_memzero(secret, sizeof(*secret));
}

int key_find(const char *id, struct key *ret, struct uspl_err *err)
{
	auto_strvec strvec names = { 0 };
	struct key found = { 0 };
	char *const *name;
	int rc = etc_list(KEY_FOLDER, KEY_SUFFIX, &names, err);

	if (rc)
		return rc;
	vec_for_each (&names, name) {
		auto_free char *file = file_join(KEY_FOLDER, *name);
		auto_buf struct buf text = { 0 };
		struct uspl_err why = { 0 };
		struct key key = { 0 };
		bool there = false;

		rc = file ? etc_read(file, &text, &there, err) : uspl_fail_nomem(err);
		if (rc)
			return rc;
		if (!there || key_read(buf_str(&text), text.len, &key, &why) != 0)
			return uspl_fail(err, USPL_E_POLICY, "'%s/%s' is not a key: %s",
					 etc_folder(), file, there ? why.msg : "it is gone");
		if (strcmp(key.id, id) != 0)
			continue;
		if (!found.id[0])
			found = key;
		/* Another file may limit a key that was found already. */
		found.revoked |= key.revoked;
		if (key.not_after && (!found.not_after || key.not_after < found.not_after))
			found.not_after = key.not_after;
	}
	*ret = found;
	return 0;
}
