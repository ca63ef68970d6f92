/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf.h - small text files: keys, signatures, the policy
 *
 * A file is lines "key = value", perhaps in sections "[name]". Blanks around a name, a key and a
 * value mean nothing. Empty lines and those that begin with '#' are left out. A key has a-z, 0-9
 * and '-'. A value goes to the end of its line, is UTF-8 without control characters, and isn't
 * empty.
 */
#ifndef USPL_TRUST_CONF_H
#define USPL_TRUST_CONF_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#define CONF_MAX_BYTES (64u << 10)

struct conf_line {
	const char *section; /* "" above the first one */
	const char *key;     /* NULL: the line begins the section */
	const char *value;
	int number; /* in the file, from 1 on */
};

struct conf {
	char *text; /* what the lines point into */
	VEC(struct conf_line) lines;
};

/*
 * Takes a text apart. USPL_E_FILE, with the line's number, if it isn't of this form, and if it has
 * more than CONF_MAX_BYTES.
 */
int conf_read(const char *text, size_t len, struct conf *ret, struct uspl_err *err) uspl_must_check;
/*
 * The value of a key above the first section, which may be there once: NULL if it isn't there, or
 * more than once. Owned by conf.
 */
const char *conf_value(const struct conf *conf, const char *key);
/*
 * Refuses a file that has keys above its first section other than these (ended by NULL), one of
 * them twice, or sections: USPL_E_FILE.
 */
int conf_check_keys(const struct conf *conf, const char *const *keys,
		    struct uspl_err *err) uspl_must_check;
/* The next word of a list, whose words are separated by blanks and commas; false at its end. */
bool conf_next_word(const char **list, const char **ret_word, size_t *ret_len);
/* Frees everything. */
void conf_release(struct conf *conf);

DEFINE_AUTO_RELEASE(conf, struct conf, conf_release)
#define auto_conf __attribute__((cleanup(cleanup_conf_)))

#endif
