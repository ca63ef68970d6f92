// SPDX-License-Identifier: GPL-3.0-or-later
// provenance.c - what an update was made of: the source package, and when

#include "create/provenance.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "package/dpkg.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789+-."
#define VERSION_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.:~"

_Static_assert(OPTIONS_ID_LEN < DIGEST_HEX, "an id is the beginning of a digest");

int provenance_time(int64_t *ret, bool *ret_fixed, struct uspl_err *err)
{
	const char *set = getenv("SOURCE_DATE_EPOCH");
	char text[CLOCK_UTC_LEN], *end;

	*ret = (int64_t)time(NULL);
	*ret_fixed = set && *set;
	if (!*ret_fixed)
		return 0;
	errno = 0;
	*ret = strtoll(set, &end, 10);
	if (*set < '0' || *set > '9' || *end || errno || !clock_utc_text(*ret, text))
		return uspl_fail(err, USPL_E_USAGE,
				 "the variable SOURCE_DATE_EPOCH is '%s', not a number of seconds "
				 "since 1970",
				 set);
	return 0;
}

bool provenance_id(const struct create_options *options, char ret[OPTIONS_ID_LEN + 1])
{
	const struct build_patch *patch;
	auto_buf struct buf text = { 0 };
	char digest[DIGEST_HEX];
	struct stat st;

	vec_for_each (&options->build.patches, patch)
		if (stat(patch->path, &st) < 0 || !S_ISREG(st.st_mode) ||
		    file_read(patch->path, &text, NULL) != 0)
			return false;
	digest_hex(buf_str(&text), text.len, digest);
	snprintf(ret, OPTIONS_ID_LEN + 1, "%.*s", OPTIONS_ID_LEN, digest);
	return true;
}

int provenance_package(const char *source, struct update *update, struct uspl_err *err)
{
	auto_free char *path = file_join(source, "debian/changelog");
	auto_free char *line = NULL;
	auto_fclose FILE *file = path ? fopen(path, "re") : NULL;
	size_t size = 0, len, version_len;
	const char *version;

	if (!path)
		return uspl_fail_nomem(err);
	if (!file || getline(&line, &size, file) < 0)
		return 0;
	/* "name (version) ..." */
	len = strspn(line, NAME_LETTERS);
	if (!len || strncmp(line + len, " (", 2) != 0)
		return 0;
	version = line + len + 2;
	version_len = strspn(version, VERSION_LETTERS);
	if (!version_len || version[version_len] != ')')
		return 0;
	update->package = strndup(line, len);
	update->version = strndup(version, version_len);
	return update->package && update->version ? 0 : uspl_fail_nomem(err);
}

int provenance_fixed_in(const char *version, const char *change, struct update *update,
			struct uspl_err *err)
{
	struct update_upgrade *upgrade = &update->upgrade;

	if (!dpkg_is_version(version))
		return uspl_fail(err, USPL_E_USAGE, "'--fixed-in=%s' is no version of a package",
				 version);
	if (!update->package) {
		uspl_fail(err, USPL_E_USAGE,
			  "--fixed-in is for source packages: the tree's debian/changelog doesn't "
			  "say which package it is");
		uspl_hint(err, "name the root of an unpacked source package with --source");
		return -USPL_E_USAGE;
	}
	upgrade->source = strdup(update->package);
	upgrade->from = strdup(update->version);
	upgrade->to = strdup(version);
	upgrade->change = strdup(change);
	return upgrade->source && upgrade->from && upgrade->to && upgrade->change
		       ? 0
		       : uspl_fail_nomem(err);
}
