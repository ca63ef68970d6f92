// SPDX-License-Identifier: GPL-3.0-or-later
// lacking.c - files that a diff changes, but the tree lacks
//
// The source of a release lacks some of what the repository has: change logs, pictures, whole
// folders of tests. What a commit changes of these can be left out, as long as the build of this
// tree has no use for it. It can't compile what isn't there. But the tree may have it in another
// place, or under another name, and then half of the change would be lost. So a source is left out
// only if
//
// - another source of the diff is in the tree: then names are taken apart the right way,
// - the folder that it was in isn't there either,
// - nothing in the tree has its name, but for what the diff changes itself, and
// - no other part of the diff names it, as a makefile or an #include would.
//
// What a source is generated from counts as one. So does what a file of the build is made of
// (Makefile.am), where the tree has only the file that was made.

#include "create/patch/lacking.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "create/patch/sections.h"
#include "create/tree/tree.h"

static bool exists(const char *tree, const char *name)
{
	auto_free char *path = file_join(tree, name);

	return !path || access(path, F_OK) == 0;
}

/* What generators of sources read. */
static bool is_generators(const char *name)
{
	static const char *const suffixes[] = {
		"y",  "yy",    "ypp",   "l",    "ll",  "lpp", "re",
		"rl", "gperf", "proto", "vala", "pyx", "asm", "cu",
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(suffixes); i++)
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	return false;
}

/* configure.ac, Makefile.am: is there what is made of it? */
static bool is_made_of(const char *tree, const char *name)
{
	const char *dot = strrchr(name, '.');
	auto_free char *made = NULL;

	if (!dot || (strcmp(dot, ".am") != 0 && strcmp(dot, ".ac") != 0))
		return false;
	if (asprintf(&made, "%.*s%s", (int)(dot - name), name, dot[2] == 'm' ? ".in" : "") < 0) {
		made = NULL;
		return true;
	}
	return exists(tree, made);
}

bool lacking_matters(const char *tree, const char *name)
{
	return tree_is_source(file_basename(name)) || is_generators(name) || is_made_of(tree, name);
}

/* ---- a source that the tree lacks ---- */

struct lacking {
	const char *tree, *diff, *name;
	const section_list *sections;
};

static int refuse(const struct lacking *lacking, const char *why, const char *what,
		  struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' changes '%s', which the tree lacks, and %s '%s'",
		  lacking->diff, lacking->name, why, what);
	uspl_hint(err, "is it a diff of this very source? if the program doesn't need the file, "
		       "take these lines out of the diff");
	return -USPL_E_UNSUPPORTED;
}

/* Refuses a source whose folder is there; the root is. */
static int check_folder(const struct lacking *lacking, struct uspl_err *err)
{
	const char *base = file_basename(lacking->name);
	auto_free char *folder = strndup(lacking->name, (size_t)(base - lacking->name));

	if (!folder)
		return uspl_fail_nomem(err);
	if (*folder)
		folder[strlen(folder) - 1] = '\0';
	return !*folder || exists(lacking->tree, folder)
		       ? refuse(lacking, "has its folder,", *folder ? folder : ".", err)
		       : 0;
}

static bool is_in_diff(const struct lacking *lacking, const char *path)
{
	const struct section *section;

	vec_for_each (lacking->sections, section) {
		auto_free char *name = section_name(section);

		if (name && !strcmp(name, path))
			return true;
	}
	return false;
}

static int check_elsewhere(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	const struct lacking *lacking = ctx;
	const char *name = path + strlen(lacking->tree) + 1;

	(void)st;
	if (strcmp(file_basename(name), file_basename(lacking->name)) != 0 ||
	    is_in_diff(lacking, name))
		return 0;
	return refuse(lacking, "has a file of this name,", name, err);
}

/* Is the word in a text, as "foo.c" or "foo.o" are words of "foo."? */
static bool has_word(const char *text, const char *end, const char *word)
{
	size_t len = strlen(word);
	const char *at = text;

	while ((at = memmem(at, (size_t)(end - at), word, len))) {
		if (at == text || (!isalnum((unsigned char)at[-1]) && !strchr("_-.", at[-1])))
			return true;
		at += len;
	}
	return false;
}

/* Also "foo.o": a makefile that names an object has a rule that compiles it. */
static int check_named(const struct lacking *lacking, struct uspl_err *err)
{
	const char *base = file_basename(lacking->name), *dot = strrchr(base, '.');
	auto_free char *stem = strndup(base, dot ? (size_t)(dot - base) + 1 : strlen(base));
	const struct section *section;

	if (!stem)
		return uspl_fail_nomem(err);
	vec_for_each (lacking->sections, section) {
		auto_free char *name = section_name(section);
		const char *hunks = section_hunks(section);

		if (!name || !hunks || !exists(lacking->tree, name))
			continue;
		if (has_word(hunks, section->end, stem))
			return refuse(lacking, "the diff names it in", name, err);
	}
	return 0;
}

/* Is a source of the diff in the tree, so that names are known to be taken apart the right way? */
static bool is_anchored(const struct lacking *lacking)
{
	const struct section *section;

	vec_for_each (lacking->sections, section) {
		auto_free char *name = section_name(section);

		if (name && tree_is_source(file_basename(name)) && exists(lacking->tree, name))
			return true;
	}
	return false;
}

int lacking_check(const char *tree, const char *diff, const char *name,
		  const section_list *sections, bool *ret_leave_out, struct uspl_err *err)
{
	struct lacking lacking = { tree, diff, name, sections };
	int rc;

	*ret_leave_out = is_anchored(&lacking);
	if (!*ret_leave_out)
		return 0;
	rc = check_folder(&lacking, err);
	if (rc)
		return rc;
	rc = tree_walk(tree, check_elsewhere, &lacking, err);
	if (rc)
		return rc;
	return check_named(&lacking, err);
}
