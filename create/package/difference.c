// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * difference.c - what two versions of a source package differ in, as far as it is compiled
 *
 * Both are compared as they are unpacked, with their patches applied: so it doesn't matter how a
 * package carries its changes, and a new version of upstream's is a difference like any other.
 * Packages whose own rules apply their patches (format 1.0 with quilt) are the exception: of these
 * debian/patches is a part of the difference, and the build applies it.
 */

#include "create/package/difference.h"

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "create/package/source_package.h"
#include "create/patch/sections.h"
#include "create/tree/tree.h"
#include "package/dpkg.h"

static bool is_below(const char *name, const char *folder)
{
	return !strncmp(name, folder, strlen(folder));
}

/* Of debian/ only what makes code, or says how: the rest describes packages. */
static bool is_compiled(const char *name, bool quilt)
{
	static const char *const makefiles[] = { "rules", "*.mk", "*.make", "Makefile*" };

	if (is_below(name, ".pc/"))
		return false;
	if (!is_below(name, "debian/"))
		return true;
	if (is_below(name, "debian/patches/"))
		return !quilt;
	if (is_below(name, "debian/tests/"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(makefiles); i++)
		if (!fnmatch(makefiles[i], file_basename(name), 0))
			return true;
	return tree_is_source(name);
}

/* "Binary files a/x and b/x differ". */
static void note_binary(const char *text, struct buf *ret)
{
	static const char label[] = "Binary files ";

	for (const char *line = text; (line = strstr(line, label)); line++) {
		const char *name = line + strlen(label) + strlen("a/"),
			   *end = strstr(name, " and b/");

		if ((line == text || line[-1] == '\n') && end)
			buf_addf(ret, "%s%.*s", ret->len ? ", " : "", (int)(end - name), name);
	}
}

/* The words of diff that stand behind a section are no part of it. */
static const char *section_stop(const struct section *section)
{
	static const char *const words[] = { "\nBinary files ", "\nSymbolic links ", "\nFile ",
					     "\nOnly in " };
	const char *stop = section->end;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *at = memmem(section->start, (size_t)(stop - section->start), words[i],
					strlen(words[i]));

		if (at)
			stop = at + 1;
	}
	return stop;
}

static int select_sections(const char *text, bool quilt, struct buf *ret, struct uspl_err *err)
{
	auto_vec section_list sections = { 0 };
	const struct section *section;
	int rc = sections_split(text, &sections, err);

	if (rc)
		return rc;
	vec_for_each (&sections, section) {
		auto_free char *name = section_name(section);

		if (!name)
			return uspl_fail_nomem(err);
		if (section->from && is_compiled(name, quilt))
			buf_add(ret, section->start,
				(size_t)(section_stop(section) - section->start));
	}
	return ret->oom ? uspl_fail_nomem(err) : 0;
}

int difference_make(const char *folder, const char *was, const struct source_package *from,
		    const struct source_package *to, struct buf *ret, struct buf *ret_binary,
		    struct uspl_err *err)
{
	const char *const argv[] = { "diff", "-ruN", "--no-dereference", was, "b", NULL };
	size_t before = ret->len;
	auto_buf struct buf text = { 0 };
	auto_buf struct buf errors = { 0 };
	int rc, status = dpkg_run(argv, folder, &text, &errors, err);

	if (status < 0)
		return status;
	if (errors.len)
		return uspl_fail(err, USPL_E_SYSTEM, "cannot compare %s %s and %s: %.300s",
				 from->name, from->version, to->version, dpkg_complaint(&errors));
	note_binary(buf_str(&text), ret_binary);
	rc = select_sections(buf_str(&text), source_package_is_quilt(from), ret, err);
	if (rc || ret->len > before)
		return rc;
	return uspl_fail(err, USPL_E_NO_CHANGE, "%s %s and %s differ in nothing that is compiled",
			 from->name, from->version, to->version);
}
