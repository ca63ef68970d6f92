// SPDX-License-Identifier: GPL-3.0-or-later
// signature.c - the signature of an update: a file beside it, FILE.sig
/*
 * The signed text is written in one way only: a signature that is read is written again from what
 * was understood, and must be the same bytes. So no two readers can take one for different things.
 */

#include "trust/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <sodium/core.h>
#include <sodium/crypto_sign_ed25519.h>
#include <sodium/utils.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "trust/conf.h"
#include "trust/etc.h"

#define FORMAT "uspl-signature 1"
#define BASE64 sodium_base64_VARIANT_ORIGINAL
#define BYTES crypto_sign_ed25519_BYTES

/* What is signed. */
struct statement {
	char key[KEY_ID_HEX];
	char sha256[DIGEST_HEX];
	uint64_t size;
	int64_t signed_at;
	char comment[SIGNATURE_COMMENT_MAX];
	unsigned char signature[BYTES]; /* of all above it */
};

static void add_statement(struct buf *buf, const struct statement *statement)
{
	char when[CLOCK_UTC_LEN];

	clock_utc_text(statement->signed_at, when);
	buf_addf(buf,
		 "format = " FORMAT "\nkey = %s\nsha256 = %s\nsize = %" PRIu64 "\nsigned = %s\n",
		 statement->key, statement->sha256, statement->size, when);
	if (statement->comment[0])
		buf_addf(buf, "comment = %s\n", statement->comment);
}

static void add_signature(struct buf *buf, const struct statement *statement)
{
	char text[sodium_base64_ENCODED_LEN(BYTES, BASE64)];

	sodium_bin2base64(text, sizeof(text), statement->signature, BYTES, BASE64);
	buf_addf(buf, "signature = %s\n", text);
}

/* One line, which conf_read gives back as it is. */
static bool comment_is_valid(const char *comment)
{
	size_t len = strlen(comment);

	return len < SIGNATURE_COMMENT_MAX && !text_is_odd(comment) &&
	       (!len || (comment[0] != ' ' && comment[len - 1] != ' '));
}

int signature_make(const void *data, size_t len, const struct key_secret *secret,
		   const char *comment, int64_t now, struct buf *ret, struct uspl_err *err)
{
	struct statement statement = { .size = len, .signed_at = now };
	auto_buf struct buf text = { 0 };

	if (!comment_is_valid(comment))
		return uspl_fail(err, USPL_E_USAGE,
				 "a comment is one line of at most %d bytes, without blanks at "
				 "its ends",
				 SIGNATURE_COMMENT_MAX - 1);
	if (sodium_init() < 0)
		return uspl_fail(err, USPL_E_SYSTEM, "libsodium can't be used");
	memcpy(statement.key, secret->id, sizeof(statement.key));
	digest_hex(data, len, statement.sha256);
	snprintf(statement.comment, sizeof(statement.comment), "%s", comment);
	add_statement(&text, &statement);
	if (text.oom)
		return uspl_fail_nomem(err);
	crypto_sign_ed25519_detached(statement.signature, NULL, (unsigned char *)text.data,
				     text.len, secret->bytes);
	add_signature(&text, &statement);
	buf_add(ret, text.data, text.len);
	return text.oom || ret->oom ? uspl_fail_nomem(err) : 0;
}

static bool take_hex(const char *value, char *ret, size_t size)
{
	if (!value || strlen(value) != size - 1 || strspn(value, "0123456789abcdef") != size - 1)
		return false;
	memcpy(ret, value, size);
	return true;
}

static bool take_size(const char *value, uint64_t *ret)
{
	char *end;

	if (!value || strspn(value, "0123456789") != strlen(value))
		return false;
	errno = 0;
	*ret = strtoull(value, &end, 10);
	return !errno && !*end;
}

static bool take_bytes(const char *value, unsigned char ret[BYTES])
{
	size_t got = 0;

	return value &&
	       sodium_base642bin(ret, BYTES, value, strlen(value), NULL, &got, NULL, BASE64) == 0 &&
	       got == BYTES;
}

static int fail_form(struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNTRUSTED, "its signature is damaged, or of another format");
}

/* Takes a signature apart. *ret_signed: so many bytes of the text, from its start, are signed. */
static int read_statement(const char *text, size_t len, struct statement *ret, size_t *ret_signed,
			  struct uspl_err *err)
{
	auto_buf struct buf again = { 0 };
	auto_conf struct conf conf = { 0 };
	struct statement statement = { 0 };
	const char *format, *comment, *when;
	bool good;

	if (len > SIGNATURE_MAX_BYTES || conf_read(text, len, &conf, NULL) != 0)
		return fail_form(err);
	format = conf_value(&conf, "format");
	comment = conf_value(&conf, "comment");
	when = conf_value(&conf, "signed");
	good = format && !strcmp(format, FORMAT) &&
	       take_hex(conf_value(&conf, "key"), statement.key, sizeof(statement.key)) &&
	       take_hex(conf_value(&conf, "sha256"), statement.sha256, sizeof(statement.sha256)) &&
	       take_size(conf_value(&conf, "size"), &statement.size) && when &&
	       clock_utc_read(when, &statement.signed_at) &&
	       take_bytes(conf_value(&conf, "signature"), statement.signature) &&
	       (!comment || comment_is_valid(comment));
	if (!good)
		return fail_form(err);
	snprintf(statement.comment, sizeof(statement.comment), "%s", comment ? comment : "");
	add_statement(&again, &statement);
	*ret_signed = again.len;
	add_signature(&again, &statement);
	if (again.oom)
		return uspl_fail_nomem(err);
	if (again.len != len || memcmp(again.data, text, len) != 0)
		return fail_form(err);
	*ret = statement;
	return 0;
}

/* The bytes are those that the statement is about, and the key has made it. */
static int check_statement(const struct key *key, const char *text, size_t n_signed,
			   const struct statement *statement, const void *data, size_t len,
			   struct uspl_err *err)
{
	char digest[DIGEST_HEX];

	if (strcmp(statement->key, key->id) != 0)
		return uspl_fail(err, USPL_E_UNTRUSTED,
				 "it is signed with the key '%s', which is another one",
				 statement->key);
	if (sodium_init() < 0)
		return uspl_fail(err, USPL_E_SYSTEM, "libsodium can't be used");
	if (crypto_sign_ed25519_verify_detached(statement->signature, (const unsigned char *)text,
						n_signed, key->bytes) != 0)
		return uspl_fail(err, USPL_E_UNTRUSTED,
				 "its signature was not made with the key '%s' (%s)", key->id,
				 key->name);
	if (len < statement->size)
		return uspl_fail(err, USPL_E_UNTRUSTED,
				 "it is cut short: %zu of the %" PRIu64 " bytes that were signed",
				 len, statement->size);
	digest_hex(data, len, digest);
	if (len != statement->size || strcmp(digest, statement->sha256) != 0)
		return uspl_fail(err, USPL_E_UNTRUSTED,
				 "it is not the file that was signed: its bytes were changed");
	return 0;
}

/* A key of the machine's that may be used at that time. */
static int check_key(const struct key *key, const struct signature_terms *terms,
		     struct uspl_err *err)
{
	int64_t when = terms->when ? terms->when : (int64_t)time(NULL);
	char end[CLOCK_UTC_LEN];

	if (key->revoked)
		return uspl_fail(err, USPL_E_UNTRUSTED,
				 "it is signed with the key '%s' (%s), which "
				 "is revoked",
				 key->id, key->name);
	if (!key->not_after || when <= key->not_after)
		return 0;
	clock_utc_text(key->not_after, end);
	uspl_fail(err, USPL_E_UNTRUSTED, "it is signed with the key '%s' (%s), which expired on %s",
		  key->id, key->name, end);
	uspl_hint(err, "sign it anew, with a key that is good");
	return -USPL_E_UNTRUSTED;
}

/* *ret_there: there is such a file. */
static int read_text(const char *path, struct buf *ret, bool *ret_there, struct uspl_err *err)
{
	auto_free char *beside = signature_path(path);
	auto_close int fd =
		beside ? open(beside, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	ssize_t got;

	if (!beside)
		return uspl_fail_nomem(err);
	*ret_there = fd >= 0;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return uspl_fail_errno(err, "cannot open '%s'", beside);
	while ((got = buf_add_read(ret, fd)) > 0 && ret->len <= SIGNATURE_MAX_BYTES)
		;
	if (got < 0)
		return uspl_fail_errno(err, "cannot read '%s'", beside);
	return 0;
}

int signature_check_file(const char *path, const void *data, size_t len,
			 const struct signature_terms *terms, struct signature_signer *ret,
			 struct buf *ret_text, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	struct statement statement;
	struct key key = { 0 };
	size_t n_signed = 0;
	bool there = false;
	int rc = read_text(path, &text, &there, err);

	*ret = (struct signature_signer){ 0 };
	if (rc)
		return rc;
	if (!there && !terms->required)
		return 0;
	if (!there) {
		uspl_fail(err, USPL_E_UNTRUSTED,
			  "it is not signed: there is no '%s" SIGNATURE_SUFFIX "'", path);
		uspl_hint(err, "'uspl-sign --key=KEY UPDATE' signs one");
		return -USPL_E_UNTRUSTED;
	}
	rc = read_statement(buf_str(&text), text.len, &statement, &n_signed, err);
	if (rc)
		return rc;
	if (terms->only)
		key = *terms->only;
	else
		rc = key_find(statement.key, &key, err);
	if (rc)
		return rc;
	if (!key.id[0] && terms->required) {
		uspl_fail(err, USPL_E_UNTRUSTED,
			  "it is signed with the key '%s', which isn't known here", statement.key);
		uspl_hint(err,
			  "if its owner is to be trusted, put the public key into '%s/" KEY_FOLDER
			  "'",
			  etc_folder());
		return -USPL_E_UNTRUSTED;
	}
	if (!key.id[0]) {
		log_info("trust", "'%s' is signed with the key '%s', which isn't known here", path,
			 statement.key);
		return 0;
	}
	rc = check_statement(&key, text.data, n_signed, &statement, data, len, err);
	if (rc)
		return rc;
	rc = check_key(&key, terms, err);
	if (rc)
		return rc;
	ret->signed_at = statement.signed_at;
	memcpy(ret->key, key.id, sizeof(ret->key));
	memcpy(ret->name, key.name, sizeof(ret->name));
	memcpy(ret->comment, statement.comment, sizeof(ret->comment));
	buf_add(ret_text, text.data, text.len);
	return ret_text->oom ? uspl_fail_nomem(err) : 0;
}

char *signature_path(const char *path)
{
	char *beside = NULL;

	return asprintf(&beside, "%s" SIGNATURE_SUFFIX, path) < 0 ? NULL : beside;
}
