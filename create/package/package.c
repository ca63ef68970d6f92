// SPDX-License-Identifier: GPL-3.0-or-later
// package.c - from two versions of a package to what an update is made of

#include "create/package/package.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "create/package/changes.h"
#include "create/package/source_package.h"
#include "create/tree/work.h"

enum { ID_MAX = 63, DIGEST_SHOWN = 8 };

static int add_note(struct package *package, struct uspl_err *err, const char *fmt, ...)
	uspl_printf(3, 4) uspl_must_check;

static int add_note(struct package *package, struct uspl_err *err, const char *fmt, ...)
{
	va_list args;
	char *note;
	int len;

	va_start(args, fmt);
	len = vasprintf(&note, fmt, args);
	va_end(args);
	return len >= 0 && strvec_take(&package->notes, note) ? 0 : uspl_fail_nomem(err);
}

/* "NAME" or "NAME=VERSION". */
static int split_spec(const char *spec, char **ret_name, char **ret_version, struct uspl_err *err)
{
	const char *sign = strchrnul(spec, '=');
	auto_free char *name = strndup(spec, (size_t)(sign - spec));
	auto_free char *version = *sign ? dpkg_source_version(sign + 1) : NULL;

	if (!name || (*sign && !version))
		return uspl_fail_nomem(err);
	if (!dpkg_is_name(name))
		return uspl_fail(err, USPL_E_USAGE, "'%s' is no name of a package", name);
	if (version && !dpkg_is_version(version))
		return uspl_fail(err, USPL_E_USAGE, "'%s' is no version of a package", version);
	*ret_name = take_ptr(name);
	*ret_version = take_ptr(version);
	return 0;
}

/* Which source package it is, and its version before. */
static int identify(struct apt *apt, const char *spec, const dpkg_packages *installed,
		    struct package *ret, struct uspl_err *err)
{
	auto_free char *name = NULL;
	const struct dpkg_package *known;
	int rc = split_spec(spec, &name, &ret->from, err);

	if (rc)
		return rc;
	known = dpkg_find_any(installed, name);
	if (!known && !ret->from) {
		uspl_fail(err, USPL_E_USAGE, "'%s' isn't installed", name);
		uspl_hint(err, "say which version the processes run: --package=%s=VERSION", name);
		return -USPL_E_USAGE;
	}
	if (!known)
		return source_package_find(apt, name, &ret->source, err);
	ret->source = strdup(known->source);
	if (!ret->from)
		ret->from = strdup(known->source_version);
	return ret->source && ret->from ? 0 : uspl_fail_nomem(err);
}

static int check_later(const struct package *package, struct uspl_err *err)
{
	bool later = false;
	int rc = dpkg_is_later(package->to, package->from, &later, err);

	if (rc || later)
		return rc;
	uspl_fail(err, USPL_E_USAGE, "%s isn't a later version of %s than %s", package->to,
		  package->source, package->from);
	uspl_hint(err, "--package=NAME=VERSION says what the processes run, --to=VERSION what they "
		       "are to run");
	return -USPL_E_USAGE;
}

static int fetch_sources(struct apt *apt, struct package *package, struct source_package *from,
			 struct source_package *to, struct uspl_err *err)
{
	auto_free char *a = file_join(package->folder, "a");
	auto_free char *b = file_join(package->folder, "b");
	int rc = a && b ? source_package_fetch(apt, package->source, package->from, a, from, err)
			: uspl_fail_nomem(err);

	if (rc)
		return rc;
	return source_package_fetch(apt, package->source, package->to, b, to, err);
}

static int find_changes(struct package *package, const struct source_package *from,
			const struct source_package *to, bool single, const char *series,
			struct uspl_err *err)
{
	auto_buf struct buf notes = { 0 };
	char *rest, *line;
	int rc = single ? changes_single(package->folder, from, to, series, &package->changes,
					 &notes, err)
			: changes_whole(package->folder, from, to, &package->changes, &notes, err);

	if (rc)
		return rc;
	for (rest = notes.data; rest && (line = strsep(&rest, "\n"));) {
		rc = *line ? add_note(package, err, "%s", line) : 0;
		if (rc)
			return rc;
	}
	package->tree = strdup(from->tree);
	package->origin = text_format("%s %s", from->name, from->version);
	return package->tree && package->origin ? 0 : uspl_fail_nomem(err);
}

static int fetch_files(struct package *package, const struct source_package *from,
		       const dpkg_packages *installed, struct uspl_err *err)
{
	auto_free char *folder = file_join(package->folder, "shipped");
	int rc = folder ? shipped_files_fetch(from, installed, folder, &package->files, err)
			: uspl_fail_nomem(err);

	if (rc || package->files.n)
		return rc;
	return add_note(package, err,
			"no program of %s %s can be had, so the update isn't matched ahead",
			package->source, package->from);
}

int package_fetch(const char *spec, const char *to, bool single, const char *series,
		  struct package *ret, struct uspl_err *err)
{
	auto_apt struct apt apt = { 0 };
	auto_dpkg dpkg_packages installed = { 0 };
	auto_source_package struct source_package older = { 0 };
	auto_source_package struct source_package newer = { 0 };
	int rc = dpkg_installed(&installed, err);

	if (rc)
		return rc;
	rc = apt_open(&apt, err);
	if (rc)
		return rc;
	rc = identify(&apt, spec, &installed, ret, err);
	if (rc)
		return rc;
	ret->to = dpkg_source_version(to);
	if (!ret->to)
		return uspl_fail_nomem(err);
	if (!dpkg_is_version(ret->to))
		return uspl_fail(err, USPL_E_USAGE, "'%s' is no version of a package", to);
	rc = check_later(ret, err);
	if (rc)
		return rc;
	rc = work_make(&ret->folder, &ret->lock, err);
	if (rc)
		return rc;
	rc = fetch_sources(&apt, ret, &older, &newer, err);
	if (rc)
		return rc;
	rc = find_changes(ret, &older, &newer, single, series, err);
	if (rc)
		return rc;
	rc = source_package_check_dependencies(&older, err);
	if (rc)
		return rc;
	return fetch_files(ret, &older, &installed, err);
}

/* Appends a version without its epoch, as far as ids may have it. */
static void add_version(struct buf *id, const char *version)
{
	buf_addstr(id, "_");
	for (const char *at = dpkg_without_epoch(version); *at; at++) {
		char letter = (char)tolower((unsigned char)*at);

		buf_add(id, strchr("+~:", *at) ? "_" : &letter, 1);
	}
}

char *package_id(const char *source, const char *from, const char *to, size_t room)
{
	size_t max = ID_MAX - room;
	auto_buf struct buf id = { 0 };
	char digest[DIGEST_HEX];

	for (const char *at = source; *at; at++)
		buf_add(&id, *at == '+' ? "_" : at, 1);
	add_version(&id, from);
	add_version(&id, to);
	if (id.oom || id.len <= max)
		return buf_take(&id);
	digest_hex(id.data, id.len, digest);
	snprintf(id.data + max - DIGEST_SHOWN - 1, DIGEST_SHOWN + 2, "_%.*s", DIGEST_SHOWN, digest);
	return buf_take(&id);
}

const char *package_file_name(const struct package *package, const char *path)
{
	static const char root[] = "/root/";
	size_t len = strlen(package->folder);
	const char *at = strncmp(path, package->folder, len) ? NULL : strstr(path + len, root);

	return at ? at + strlen(root) - 1 : path;
}

void package_release(struct package *package)
{
	if (package->folder && file_remove_tree(package->folder, NULL) != 0)
		fprintf(stderr, "note: cannot remove '%s'\n", package->folder);
	if (package->folder)
		close(package->lock);
	strvec_release(&package->files);
	strvec_release(&package->notes);
	free(package->source);
	free(package->from);
	free(package->to);
	free(package->folder);
	free(package->tree);
	free(package->origin);
	series_release(&package->changes);
	*package = (struct package){ 0 };
}
