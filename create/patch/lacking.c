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
#include "base/text.h"
#include "create/patch/sections.h"
#include "create/tree/tree.h"

bool lacking_matters(const char *tree, const char *name)
{
	static const char *const of_generators[] = {
		"y",  "yy",    "ypp",   "l",    "ll",  "lpp", "re",
		"rl", "gperf", "proto", "vala", "pyx", "asm", "cu",
	};
	const char *dot = strrchr(name, '.');
	auto_free char *made = NULL;

	if (tree_is_source(file_basename(name)) || (dot && TEXT_IS_ONE_OF(dot + 1, of_generators)))
		return true;
	if (!dot || (strcmp(dot, ".am") != 0 && strcmp(dot, ".ac") != 0))
		return false;
	/* configure.ac, Makefile.am: is there what is made of it? */
	made = text_format("%.*s%s", (int)(dot - name), name, dot[2] == 'm' ? ".in" : "");
	return !made || file_is_in(tree, made);
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

static int check_elsewhere(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	const struct lacking *lacking = ctx;
	const char *name = path + strlen(lacking->tree) + 1;
	const struct section *section;

	(void)st;
	if (strcmp(file_basename(name), file_basename(lacking->name)) != 0)
		return 0;
	/* The diff itself may change that one. */
	vec_for_each (lacking->sections, section) {
		auto_free char *own = section_name(section);

		if (own && !strcmp(own, name))
			return 0;
	}
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

		if (!name || !hunks || !file_is_in(lacking->tree, name))
			continue;
		if (has_word(hunks, section->end, stem))
			return refuse(lacking, "the diff names it in", name, err);
	}
	return 0;
}

int lacking_check(const char *tree, const char *diff, const char *name,
		  const section_list *sections, bool *ret_leave_out, struct uspl_err *err)
{
	struct lacking lacking = { tree, diff, name, sections };
	auto_free char *folder = strndup(name, (size_t)(file_basename(name) - name));
	const struct section *section;
	bool anchored = false;
	int rc;

	/*
	 * With a source of the diff in the tree, names are known to be taken apart the right way.
	 */
	vec_for_each (sections, section) {
		auto_free char *own = section_name(section);

		anchored |= own && tree_is_source(file_basename(own)) && file_is_in(tree, own);
	}
	*ret_leave_out = anchored;
	if (!anchored)
		return 0;
	if (!folder)
		return uspl_fail_nomem(err);
	/* A source whose folder is there is refused; the root is. */
	if (!*folder)
		return refuse(&lacking, "has its folder,", ".", err);
	folder[strlen(folder) - 1] = '\0';
	if (file_is_in(tree, folder))
		return refuse(&lacking, "has its folder,", folder, err);
	rc = tree_walk(tree, check_elsewhere, &lacking, err);
	if (rc)
		return rc;
	return check_named(&lacking, err);
}
