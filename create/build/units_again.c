// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * units_again.c - does the build after the patch have to be run once more?
 *
 * A makefile may not know what an object depends on: a header that the build generates, the file
 * with the options, a table that the assembler includes. What a clean build would compile otherwise
 * has to be compiled again, so the tool finds out after the build
 *
 *  - which headers have changed without being in the patch: sources that include one, and were
 *    compiled before it was there, are given a new time;
 *  - which patched files, of a kind that says nothing, the build has read: these may have changed
 *    anything, and all is compiled again.
 *
 * That a file was read is told by its time of access, where the file system keeps it.
 */

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/strvec.h"
#include "create/build/flags.h"
#include "create/build/inputs.h"
#include "create/build/record.h"
#include "create/build/units.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"

/* ---- which of them are others now ---- */

/* Sets `changed` of what is another one now, and by the build, not by the patch. */
static int find_changed(struct units *units, const strvec *patched, bool *ret_any,
			struct uspl_err *err)
{
	struct content *content;

	vec_for_each (&units->contents, content) {
		auto_free char *real = realpath(content->path, NULL);
		uint64_t hash = 0;
		struct stat st;
		int rc;

		content->changed = false;
		if (content->gone || !real || stat(real, &st) < 0 || strvec_has(patched, real))
			continue;
		rc = input_hash_file(real, &hash, err);
		if (rc)
			return rc;
		content->changed = hash != content->hash;
		content->time = st.st_mtim;
		*ret_any |= content->changed;
	}
	return 0;
}

/* ---- what was compiled too early ---- */

/* When a compilation began: its saved object was made then. False if that isn't known. */
static bool began_at(const struct record *record, struct timespec *ret)
{
	struct statx stx;

	if (statx(AT_FDCWD, record->saved, 0, STATX_BTIME, &stx) < 0 ||
	    !(stx.stx_mask & STATX_BTIME))
		return false;
	*ret = (struct timespec){ stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec };
	return true;
}

/* A compilation, and whether something that it includes has changed since. */
struct early {
	const struct units *units;
	bool again; /* it is of the build after the patch */
	bool knows; /* when it began */
	struct timespec began;
	const char *header; /* what has changed; NULL if nothing has */
};

static int note_early(const char *path, void *ctx, struct uspl_err *err)
{
	struct early *early = ctx;
	uintptr_t known = (uintptr_t)strmap_get(&early->units->content_of, path);
	const struct content *content = known ? &early->units->contents.items[known - 1] : NULL;
	const struct timespec *began = &early->began;

	(void)err;
	if (!content || !content->changed || early->header)
		return 0;
	if (!early->again || !early->knows || began->tv_sec < content->time.tv_sec ||
	    (began->tv_sec == content->time.tv_sec && began->tv_nsec <= content->time.tv_nsec))
		early->header = content->path;
	return 0;
}

/* By what the two builds' compilations of one object are known: several may share its name. */
static const char *key_of(const struct units *units, const struct record *record)
{
	return strchr(record->output, ':') || strmap_get(&units->shared, record->output)
		       ? record->source
		       : record->output;
}

static int check_record(const struct units *units, const struct record *pre,
			const struct strmap *compiled, bool last, bool *ret, struct uspl_err *err)
{
	const struct record *post = strmap_get(compiled, key_of(units, pre));
	struct early early = { .units = units, .again = post };
	int rc;

	early.knows = post && began_at(post, &early.began);
	rc = record_each_file(post ? post : pre, note_early, &early, err);
	if (rc || !early.header)
		return rc;
	if (!last) {
		*ret = true;
		if (utimensat(AT_FDCWD, pre->source, NULL, 0) < 0)
			return uspl_fail_errno(err, "cannot set the time of '%s'", pre->source);
		return 0;
	}
	if (post)
		return 0;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the build after the patch doesn't compile '%s' again, which includes '%s', and "
		  "that has changed",
		  units_relative(units, pre->source), units_relative(units, early.header));
	uspl_hint(err, "--build=COMMAND that compiles everything is the way out");
	return -USPL_E_UNSUPPORTED;
}

static int check_records(const struct units *units, const record_list *post, bool last, bool *ret,
			 struct uspl_err *err)
{
	auto_strmap struct strmap compiled = { 0 };
	struct record **slot;

	vec_for_each (post, slot)
		if ((*slot)->kind == RECORD_COMPILE &&
		    !strmap_set(&compiled, key_of(units, *slot), *slot))
			return uspl_fail_nomem(err);
	vec_for_each (&units->pre, slot) {
		const struct record *pre = *slot;
		int rc;

		if (pre->kind != RECORD_COMPILE ||
		    units_relative(units, pre->source) == pre->source ||
		    access(pre->source, F_OK) < 0 ||
		    strmap_get(&units->makers.by_path, pre->output) != pre)
			continue;
		rc = check_record(units, pre, &compiled, last, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- what was read ---- */

/* True for what is for people, and for what is tried only. */
static bool is_for_people(const char *name)
{
	static const char *const names[] = {
		"*.md",    "*.rst",    "*.txt",    "*.[1-9]",    "*.html",    "*.po",
		"*.pot",   "*.texi",   "README*",  "NEWS*",      "CHANGES*",  "Changes*",
		"COPYING", "LICENSE*", "AUTHORS*", "ChangeLog*", "changelog", ".git*",
	};
	static const char *const folders[] = {
		"test", "tests", "t",  "regress",  "testsuite", "test-suite", "doc",
		"docs", "man",   "po", "examples", "debian",    ".github",
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t len = strlen(folders[i]);

		for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
			if (!strncmp(at, folders[i], len) && at[len] == '/')
				return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!fnmatch(names[i], file_basename(name), 0))
			return true;
	return false;
}

bool units_only_sources(const struct units *units, const strvec *patched)
{
	char **file;

	if (flags_may_change(patched))
		return false;
	vec_for_each (patched, file)
		if (!tree_is_source(file_basename(*file)) &&
		    !is_for_people(units_relative(units, *file)))
			return false;
	return true;
}

/* A file whose name doesn't tell what it is for. */
static bool is_unknown(const char *file)
{
	char *items[] = { (char *)file };
	const strvec one = { items, 1, 1 };

	return !tree_is_source(file_basename(file)) && !flags_may_change(&one);
}

/* Does reading a file change its time of access here? */
static bool keeps_reads(const struct build_paths *paths)
{
	auto_free char *path = file_join(paths->work, "read");
	struct timespec old[2] = { { 1, 0 }, { 2, 0 } };
	auto_buf struct buf text = { 0 };
	struct stat st;

	return path && !file_write(path, "x", 1, NULL) && !utimensat(AT_FDCWD, path, old, 0) &&
	       !file_read(path, &text, NULL) && !stat(path, &st) && st.st_atim.tv_sec != 1;
}

/* Files that a patch touched have the same time of access and of change until they are read. */
static bool was_read(const char *file)
{
	struct stat st;

	return stat(file, &st) < 0 || st.st_atim.tv_sec != st.st_mtim.tv_sec ||
	       st.st_atim.tv_nsec != st.st_mtim.tv_nsec;
}

int units_note_unread(const struct units *units, const strvec *patched, struct build *build,
		      struct uspl_err *err)
{
	auto_buf struct buf names = { 0 };
	char **file;
	size_t n = 0;

	if (!keeps_reads(units->paths))
		return 0;
	vec_for_each (patched, file) {
		const char *name = units_relative(units, *file);

		if (tree_is_source(file_basename(*file)) || is_for_people(name) || was_read(*file))
			continue;
		if (!strcmp(file_basename(name), "configure")) {
			uspl_fail(err, USPL_E_UNSUPPORTED,
				  "the patch changes '%s', and the build doesn't run it: the "
				  "options are those of before",
				  name);
			uspl_hint(err, "--build='./configure OPTIONS && make' configures in each "
				       "build; or leave the file out of the patch, if it matters "
				       "to new builds only");
			return -USPL_E_UNSUPPORTED;
		}
		buf_addf(&names, "%s'%s'", n++ ? ", " : "", name);
	}
	if (!n)
		return 0;
	return build_note(build, err,
			  "the build doesn't read %s, which the patch changes: nothing of %s is in "
			  "the update",
			  buf_str(&names), n > 1 ? "them" : "it");
}

/* ---- both ---- */

/* True if one of the unknown files was read, or nothing tells. */
static bool may_have_changed_all(const struct units *units, const strvec *patched)
{
	bool kept = keeps_reads(units->paths);
	char **file;

	vec_for_each (patched, file)
		if (is_unknown(*file) &&
		    (kept ? was_read(*file) : !is_for_people(units_relative(units, *file))))
			return true;
	return false;
}

int units_find_early(struct units *units, const strvec *patched, bool last, bool *ret,
		     struct uspl_err *err)
{
	auto_record record_list post = { 0 };
	struct timespec now;
	bool any = false;
	int rc;

	*ret = false;
	if (!last && !flags_may_change(patched) && may_have_changed_all(units, patched)) {
		*ret = true;
		clock_gettime(CLOCK_REALTIME, &now);
		rc = units_renew_all(units, &now, err);
		if (rc)
			return rc;
	}
	rc = find_changed(units, patched, &any, err);
	if (rc || !any)
		return rc;
	rc = record_read(units->paths->work, "post", &post, err);
	if (rc)
		return rc;
	return check_records(units, &post, last, ret, err);
}

/* ---- what no list of dependencies has ---- */

static bool mentions(const char *path, const strvec *unknown)
{
	auto_buf struct buf text = { 0 };
	char **file;

	if (file_read(path, &text, NULL) < 0)
		return false;
	vec_for_each (unknown, file)
		if (strstr(buf_str(&text), file_basename(*file)))
			return true;
	return false;
}

/*
 * No list of dependencies has what `.incbin` reads, nor what wasn't there: a header that the patch
 * brings, and that a compiler finds before another one of its name now, or by `__has_include`. A
 * source that names such a file counts as patched, and so does a header that the patch takes away.
 */
int units_find_mentions(const struct units *units, const strvec *patched, strvec *ret,
			struct uspl_err *err)
{
	auto_strvec strvec unknown = { 0 };
	const struct content *content;
	char **file;

	vec_for_each (patched, file)
		if ((is_unknown(*file) || !strmap_get(&units->content_of, *file)) &&
		    !strvec_add(&unknown, *file))
			return uspl_fail_nomem(err);
	vec_for_each (&units->contents, content) {
		bool there = access(content->path, F_OK) == 0;

		if (!there && !content->gone && !strvec_add(ret, content->path))
			return uspl_fail_nomem(err);
		if (there && unknown.n && mentions(content->path, &unknown) &&
		    !strvec_take(ret, realpath(content->path, NULL)))
			return uspl_fail_nomem(err);
	}
	return 0;
}
