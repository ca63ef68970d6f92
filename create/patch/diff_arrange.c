// SPDX-License-Identifier: GPL-3.0-or-later
// diff_arrange.c - diffs as people send them, made into what can be applied to this tree
//
// - A mail is turned into the text that it carries (mail.c).
// - An upstream commit also changes documentation, change logs, pictures and tests, which the
//   source of a release may lack. They are left out, with a note (lacking.c says when a
//   source is).
// - A diff of a package has its changes within its changes (debdiff.c).

#include "create/patch/diff_arrange.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "create/patch/debdiff.h"
#include "create/patch/lacking.h"
#include "create/patch/patch.h"
#include "create/patch/sections.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"

/*
 * Looks under the name; where it isn't certain how many folders are to be taken off, also with some
 * of them off: one of two, or with an option of the user's any number.
 */
static bool is_in_tree(const char *tree, const struct patch_file *patch,
		       const struct section *section, const char *name)
{
	bool is_old = section->from && text_starts_with(section->from, "a/");
	bool is_new = section->to && text_starts_with(section->to, "b/");
	bool any = patch_sets_strip(patch);

	if (file_is_in(tree, name))
		return true;
	/* "a/NAME" and "b/NAME", as git and most people write: one folder is to be taken off. */
	if (!any && (section->git || (is_old && is_new) || (is_old && section->is_gone) ||
		     (is_new && section->is_new)))
		return false;
	do {
		name = strchr(name, '/');
		if (name && file_is_in(tree, ++name))
			return true;
	} while (name && any);
	return false;
}

/* A diff on its way. */
struct arrangement {
	const struct patch_file *patch;
	const struct build_paths *paths;
	struct buf kept;     /* what of it is for this tree */
	struct buf left_out; /* names of files that the tree lacks */
	bool changelog;      /* debian/changelog was left out */
	enum debdiff_kind kind;
};

/* May a file that the tree lacks be left out? A new one is made, unless it isn't text. */
static int may_leave_out(const struct arrangement *arrangement, const section_list *sections,
			 const struct section *section, const char *name, bool *ret,
			 struct uspl_err *err)
{
	const char *tree = arrangement->paths->source;
	auto_free char *old = section_old_name(section);

	*ret = false;
	if (!old)
		return uspl_fail_nomem(err);
	if (!*name || is_in_tree(tree, arrangement->patch, section, name) ||
	    is_in_tree(tree, arrangement->patch, section, old))
		return 0;
	if (section->is_new && !section->binary)
		return 0;
	if (lacking_matters(tree, old))
		return patch_sets_strip(arrangement->patch)
			       ? 0
			       : lacking_check(tree, arrangement->patch->name, old, sections, ret,
					       err);
	*ret = true;
	return 0;
}

static int add_section(struct arrangement *arrangement, const section_list *sections,
		       const struct section *section, struct uspl_err *err)
{
	auto_free char *name = section_name(section);
	struct buf *left_out = &arrangement->left_out;
	bool out = false;
	int rc;

	if (!name)
		return uspl_fail_nomem(err);
	if (debdiff_takes(arrangement->kind, name))
		return 0;
	if (debdiff_is_changelog(name)) {
		arrangement->changelog = true;
		return 0;
	}
	rc = may_leave_out(arrangement, sections, section, name, &out, err);
	if (!rc && out)
		buf_addf(left_out, "%s%s", left_out->len ? ", " : "", name);
	else if (!rc)
		buf_add(&arrangement->kept, section->start,
			(size_t)(section->end - section->start));
	return rc;
}

static int arrange(struct arrangement *arrangement, const char *text, const section_list *sections,
		   struct buf *ret, struct build *notes, struct uspl_err *err)
{
	const char *name = arrangement->patch->name;
	const struct section *section;
	int rc = debdiff_resolve(arrangement->paths, arrangement->patch, sections,
				 &arrangement->kept, &arrangement->kind, notes, err);

	if (rc)
		return rc;
	vec_for_each (sections, section) {
		rc = add_section(arrangement, sections, section, err);
		if (rc)
			return rc;
	}
	/* The words in front are the description. */
	if (arrangement->kind == DEBDIFF_NONE && (arrangement->kept.len || !sections->n))
		buf_add(ret, text,
			sections->n ? (size_t)(sections->items[0].start - text) : strlen(text));
	buf_add(ret, buf_str(&arrangement->kept), arrangement->kept.len);
	if (ret->oom || arrangement->kept.oom || arrangement->left_out.oom)
		return uspl_fail_nomem(err);
	if (arrangement->left_out.len) {
		rc = build_note(notes, err, "left out of '%s', since the tree has no such file: %s",
				name, buf_str(&arrangement->left_out));
		if (rc)
			return rc;
	}
	/* It is the version that the build has, and with it times, paths and options. */
	if (arrangement->changelog && arrangement->kind == DEBDIFF_NONE)
		return build_note(notes, err,
				  "left out of '%s': debian/changelog, since the program that runs "
				  "keeps its version",
				  name);
	return 0;
}

int diff_arrange(const struct patch_file *patch, const struct build_paths *paths, const char *text,
		 struct buf *ret, struct build *notes, struct uspl_err *err)
{
	struct arrangement arrangement = { .patch = patch, .paths = paths };
	auto_vec section_list sections = { 0 };
	int rc = sections_split(text, &sections, err);

	if (!rc)
		rc = arrange(&arrangement, text, &sections, ret, notes, err);
	buf_release(&arrangement.kept);
	buf_release(&arrangement.left_out);
	return rc;
}

char *diff_brings_patch(const char *text)
{
	static const char *const suffixes[] = { ".patch", ".diff", ".dpatch" };
	auto_vec section_list sections = { 0 };
	const struct section *section;
	char *found = NULL;

	if (sections_split(text, &sections, NULL))
		sections.n = 0;
	vec_for_each (&sections, section) {
		auto_free char *name = section_name(section);
		const char *dot = name ? strrchr(file_basename(name), '.') : NULL;

		for (size_t i = 0; dot && !found && i < ARRAY_SIZE(suffixes); i++)
			if (!section->is_gone && !strcmp(dot, suffixes[i]))
				found = take_ptr(name);
	}
	return found;
}
