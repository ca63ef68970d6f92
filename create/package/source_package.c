// SPDX-License-Identifier: GPL-3.0-or-later
// source_package.c - a source package of a version, fetched and unpacked

#include "create/package/source_package.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "create/tree/tree.h"
#include "package/dpkg.h"

/* The first stanza of a package of exactly this name, or else the first one: apt knows binaries. */
static char *find_stanza(const char *text, const char *name)
{
	static const char label[] = "Package: ";
	const char *first = NULL;

	for (const char *at = text; (at = strstr(at, label)); at += strlen(label)) {
		const char *value = at + strlen(label);
		size_t len = strcspn(value, "\n");

		if (at > text && at[-1] != '\n')
			continue;
		if (len == strlen(name) && !strncmp(value, name, len))
			return strdup(name);
		if (!first)
			first = value;
	}
	return first ? strndup(first, strcspn(first, "\n")) : NULL;
}

int source_package_find(struct apt *apt, const char *name, char **ret, struct uspl_err *err)
{
	const char *items[] = { "apt-cache", "showsrc", name };
	const cli_strings words = { .items = items, .n = ARRAY_SIZE(items) };

	for (;;) {
		auto_buf struct buf text = { 0 };
		int status = apt_run(apt, &words, NULL, &text, NULL, err);

		if (status < 0)
			return status;
		*ret = find_stanza(buf_str(&text), name);
		if (*ret)
			return 0;
		if (apt->is_new)
			return uspl_fail(err, USPL_E_FILE,
					 "the archives have no source package for '%s'", name);
		status = apt_update(apt, err);
		if (status)
			return status;
	}
}

static int run_source(const struct apt *apt, const char *how, const char *word, const char *folder,
		      struct buf *out, struct buf *errors, struct uspl_err *err)
{
	const char *items[] = { "apt-get", "source", how, "--only-source", word };
	const cli_strings words = { .items = items, .n = ARRAY_SIZE(items) };

	return apt_run(apt, &words, folder, out, errors, err);
}

/* An archive may have lost a signature of upstream's, whose sum is in what is signed besides. */
static int lacks_signature_only(const struct apt *apt, const char *word, const char *folder,
				bool *ret, struct uspl_err *err)
{
	auto_buf struct buf uris = { 0 };
	int status = run_source(apt, "--print-uris", word, folder, &uris, NULL, err);
	char *rest = uris.data, *line;
	size_t n = 0;

	*ret = false;
	if (status)
		return status < 0 ? status : 0;
	while (rest && (line = strsep(&rest, "\n"))) {
		n += *line != '\0';
		if (*line && !strstr(line, ".asc "))
			return 0;
	}
	*ret = n > 0;
	return 0;
}

/* *ret_damaged: not all of it could be had, but what is missing isn't needed. */
static int fetch(struct apt *apt, const struct source_package *source, const char *folder,
		 bool *ret_damaged, struct uspl_err *err)
{
	auto_free char *word = text_format("%s=%s", source->name, source->version);

	if (!word)
		return uspl_fail_nomem(err);
	for (;;) {
		auto_buf struct buf errors = { 0 };
		int rc, status = run_source(apt, "--download-only", word, folder, NULL, &errors,
					    err);

		if (status <= 0)
			return status;
		if (apt->is_new) {
			rc = lacks_signature_only(apt, word, folder, ret_damaged, err);
			if (rc || *ret_damaged)
				return rc;
			uspl_fail(err, USPL_E_FILE, "cannot fetch the source of %s %s: %.600s",
				  source->name, source->version, dpkg_complaint(&errors));
			uspl_hint(err,
				  "an archive keeps few versions of a package; "
				  "snapshot.debian.org has all of Debian's, and can be added to "
				  "apt's sources");
			return -USPL_E_FILE;
		}
		rc = apt_update(apt, err);
		if (rc)
			return rc;
	}
}

/* What a file gets that was written while the source was unpacked. */
struct written {
	time_t since;
	struct timespec times[2];
};

static int set_time(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	const struct written *written = ctx;

	if (st->st_mtime < written->since ||
	    utimensat(AT_FDCWD, path, written->times, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return uspl_fail_errno(err, "cannot set the time of '%s'", path);
}

static int unpack(const struct source_package *source, const char *dsc, bool damaged,
		  struct uspl_err *err)
{
	/* A file system's clock may be a little behind. */
	time_t since = time(NULL) - 1;
	const char *argv[] = { "dpkg-source",
			       "-x",
			       damaged ? "--no-check" : dsc,
			       damaged ? dsc : source->tree,
			       damaged ? source->tree : NULL,
			       NULL };
	auto_free char *changelog = file_join(source->tree, "debian/changelog");
	struct written written = { .since = since };
	auto_buf struct buf errors = { 0 };
	struct stat st;
	int status = dpkg_run(argv, NULL, NULL, &errors, err);

	if (status > 0)
		return uspl_fail(err, USPL_E_FILE, "cannot unpack the source of %s %s: %.600s",
				 source->name, source->version, dpkg_complaint(&errors));
	if (status)
		return status;
	if (!changelog)
		return uspl_fail_nomem(err);
	/*
	 * dpkg-source leaves the files that it patches with the time of day, all the same one. By
	 * that of the changelog they are as new to make, and the tree has the same times whenever
	 * it is unpacked: a build that --prebuild has kept goes by these.
	 */
	if (stat(changelog, &st) < 0)
		return uspl_fail_errno(err, "cannot read '%s'", changelog);
	written.times[0] = written.times[1] = st.st_mtim;
	return tree_walk(source->tree, set_time, &written, err);
}

int source_package_fetch(struct apt *apt, const char *name, const char *version, const char *tree,
			 struct source_package *ret, struct uspl_err *err)
{
	auto_free char *sources = file_join(apt->folder, "source");
	auto_free char *folder = sources ? file_join(sources, name) : NULL;
	auto_free char *dsc = NULL;
	auto_buf struct buf text = { 0 };
	bool damaged = false;
	int rc;

	ret->name = strdup(name);
	ret->version = strdup(version);
	ret->tree = strdup(tree);
	if (!folder || !ret->name || !ret->version || !ret->tree ||
	    asprintf(&dsc, "%s/%s_%s.dsc", folder, name, dpkg_without_epoch(version)) < 0) {
		dsc = NULL;
		return uspl_fail_nomem(err);
	}
	rc = file_mkdirs(folder, err);
	if (rc)
		return rc;
	rc = fetch(apt, ret, folder, &damaged, err);
	if (rc)
		return rc;
	rc = file_read(dsc, &text, err);
	if (rc)
		return rc;
	ret->description = strdup(buf_str(&text));
	return ret->description ? unpack(ret, dsc, damaged, err) : uspl_fail_nomem(err);
}

/* The names alone, of alternatives the first: "a (>= 1) | b c" is "a c". */
static void name_packages(char *list, struct buf *ret)
{
	char *state = NULL;
	bool in_brackets = false, is_alternative = false;

	for (char *word = strtok_r(list, " ,", &state); word; word = strtok_r(NULL, " ,", &state)) {
		bool is_name = !in_brackets && isalnum((unsigned char)*word);

		in_brackets = (in_brackets || strchr("([<", *word)) &&
			      !strchr(")]>", word[strlen(word) - 1]);
		if (is_name && !is_alternative)
			buf_addf(ret, " %s", word);
		is_alternative = *word == '|' || (is_alternative && !is_name);
	}
}

int source_package_check_dependencies(const struct source_package *source, struct uspl_err *err)
{
	const char *own = getenv("DEB_BUILD_PROFILES");
	auto_free char *profiles = text_format("-P%s %s", own ? own : "", DPKG_PROFILES);
	const char *const argv[] = { "dpkg-checkbuilddeps", "-B", profiles, NULL };
	static const char label[] = "Unmet build ";
	auto_buf struct buf errors = { 0 };
	auto_buf struct buf names = { 0 };
	char *list;
	int status;

	if (!profiles)
		return uspl_fail_nomem(err);
	for (char *space = profiles; (space = strchr(space, ' '));)
		*space = ',';
	status = dpkg_run(argv, source->tree, NULL, &errors, err);
	if (status <= 0)
		return status;
	list = errors.len ? strstr(errors.data, label) : NULL;
	list = list ? strchr(list, ':') : NULL;
	if (!list)
		return uspl_fail(err, USPL_E_BUILD, "cannot check the build dependencies of %s: %s",
				 source->name, dpkg_complaint(&errors));
	list += 2;
	list[strcspn(list, "\n")] = '\0';
	uspl_fail(err, USPL_E_BUILD, "build dependencies of %s %s are missing: %.1000s",
		  source->name, source->version, list);
	name_packages(list, &names);
	uspl_hint(err, "apt-get install%s", buf_str(&names));
	return -USPL_E_BUILD;
}

bool source_package_is_quilt(const struct source_package *source)
{
	auto_free char *path = file_join(source->tree, "debian/source/format");
	auto_buf struct buf text = { 0 };

	return path && file_read(path, &text, NULL) == 0 &&
	       !strncmp(buf_str(&text), "3.0 (quilt)", 11);
}

void source_package_release(struct source_package *source)
{
	free(source->name);
	free(source->version);
	free(source->description);
	free(source->tree);
	*source = (struct source_package){ 0 };
}
