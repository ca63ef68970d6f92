// SPDX-License-Identifier: GPL-3.0-or-later
// build_arrange.c - diffs as people send them, made into what can be applied to this tree
//
// A diff is a run of sections, one for each file. Two kinds of diffs have sections that this tree
// can't take as they stand:
//
// - An upstream commit also changes documentation, change logs and pictures, which the source of a
//   release may lack. They are left out, with a note; never a source, of which nothing is known then.
// - A debdiff of a package in the format 3.0 (quilt) has its changes within its changes: it adds files
//   below debian/patches, and names in debian/patches/series. The tree has all older patches
//   applied, so what these files hold takes the place of the whole diff. Packages whose own rules
//   apply their patches are left as they are: the build does it.

#include <string.h>

#include "base/file.h"
#include "create/build_patch.h"

struct section {
	const char *start, *end;
	const char *from, *to; /* the names after "--- " and "+++ "; NULL if there are none */
	const char *git;       /* what follows "diff --git " */
	bool binary, is_new, is_gone;
};

typedef VEC(struct section) section_list;

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* Does a section begin with this line? */
static bool begins_section(const char *line, const struct section *section)
{
	if (starts_with(line, "diff ") || starts_with(line, "Index: "))
		return true;
	return starts_with(line, "--- ") && starts_with(next_line(line), "+++ ") &&
	       (!section || section->from);
}

static void note_line(struct section *section, const char *line)
{
	if (starts_with(line, "--- "))
		section->from = line + 4;
	else if (starts_with(line, "+++ "))
		section->to = line + 4;
	else if (starts_with(line, "diff --git "))
		section->git = line + 11;
	section->is_new |= starts_with(line, "--- /dev/null") || starts_with(line, "new file mode");
	section->is_gone |=
		starts_with(line, "+++ /dev/null") || starts_with(line, "deleted file mode");
	/* diff -N gives a file that isn't there a time, not the name /dev/null. */
	section->is_new |= starts_with(line, "@@ -0,0 ");
	section->is_gone |=
		starts_with(line, "@@ -") && starts_with(line + strcspn(line, "+\n"), "+0,0 @@");
	section->binary |= diff_is_binary(line);
}

/* What stands in front of the first section is nobody's. */
static int split(const char *text, section_list *ret, struct uspl_err *err)
{
	struct section *section = NULL;
	struct diff_hunk hunk = { 0, 0 };

	for (const char *line = text; *line; line = next_line(line)) {
		if (diff_in_hunk(&hunk, line))
			continue;
		if (begins_section(line, section)) {
			if (section)
				section->end = line;
			section = vec_push(ret);
			if (!section)
				return uspl_fail_nomem(err);
			section->start = line;
		}
		if (section)
			note_line(section, line);
	}
	if (section)
		section->end = text + strlen(text);
	return 0;
}

/* The name in a line, without the folder a/ or b/; allocated. */
static char *name_in(const char *text)
{
	size_t len = strcspn(text, "\t\r\n");

	if (len > 2 && (*text == 'a' || *text == 'b') && text[1] == '/')
		return strndup(text + 2, len - 2);
	return strndup(text, len);
}

/* The file that a section is about. */
static char *section_name(const struct section *section)
{
	const char *second = section->git ? strstr(section->git, " b/") : NULL;

	if (section->to && !section->is_gone)
		return name_in(section->to);
	if (section->from && !section->is_new)
		return name_in(section->from);
	return second ? name_in(second + 1) : strdup("");
}

/* Under its name, or without the first folder, which -p1 takes off. */
static bool is_in_tree(const char *tree, const char *name)
{
	const char *slash = strchr(name, '/');
	auto_free char *path = file_join(tree, name);
	auto_free char *shorter = slash ? file_join(tree, slash + 1) : NULL;

	return !path || access(path, F_OK) == 0 || (shorter && access(shorter, F_OK) == 0);
}

/* Nothing is known of a name that a user's -p takes apart otherwise. */
static bool may_leave_out(const struct section *section, const char *tree, const char *name)
{
	if (!*name || tree_is_source(file_basename(name)) || is_in_tree(tree, name))
		return false;
	return section->binary || !section->is_new;
}

/* ---- debdiffs ---- */

static const char patches_folder[] = "debian/patches/";

/* The rest of a name below debian/patches; NULL if it is elsewhere. */
static const char *patch_name(const char *name)
{
	const char *at = strstr(name, patches_folder);

	return at && (at == name || at[-1] == '/') ? at + strlen(patches_folder) : NULL;
}

static bool is_quilt(const char *tree)
{
	auto_free char *path = file_join(tree, "debian/source/format");
	auto_buf struct buf text = { 0 };

	return path && !file_read(path, &text, NULL) && starts_with(buf_str(&text), "3.0 (quilt)");
}

/* Appends the lines that a section adds (sign '+') or takes away. */
static void add_lines(const struct section *section, char sign, struct buf *ret)
{
	struct diff_hunk hunk = { 0, 0 };

	for (const char *line = section->start; line < section->end; line = next_line(line))
		if (diff_in_hunk(&hunk, line) && *line == sign)
			buf_add(ret, line + 1, (size_t)(next_line(line) - line) - 1);
}

static int fail_changed_patch(const char *diff, const char *name, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "'%s' changes '%s%s', a patch that the tree has applied already", diff,
		  patches_folder, name);
	uspl_hint(err, "give what it changes in the source as a diff of the two unpacked packages");
	return -USPL_E_UNSUPPORTED;
}

/* The section that adds the patch of that name. */
static const struct section *find_patch(const section_list *sections, const char *wanted)
{
	const struct section *section;

	vec_for_each (sections, section) {
		auto_free char *name = section_name(section);
		const char *patch = name && section->is_new ? patch_name(name) : NULL;

		if (patch && !strcmp(patch, wanted))
			return section;
	}
	return NULL;
}

/* The patches that the debdiff's change of the series adds, in that order. */
static int add_quilt(const char *diff, const section_list *sections, const struct section *series,
		     struct buf *ret, struct uspl_err *err)
{
	auto_buf struct buf added = { 0 };
	auto_buf struct buf gone = { 0 };
	char *state = NULL;

	add_lines(series, '-', &gone);
	add_lines(series, '+', &added);
	if (added.oom || gone.oom)
		return uspl_fail_nomem(err);
	if (gone.len)
		return fail_changed_patch(diff, "series", err);
	for (char *line = added.len ? strtok_r(added.data, "\n", &state) : NULL; line;
	     line = strtok_r(NULL, "\n", &state)) {
		const struct section *patch;

		line += strspn(line, " \t");
		line[strcspn(line, " \t\r")] = '\0';
		if (!*line || *line == '#')
			continue;
		patch = find_patch(sections, line);
		if (!patch)
			return uspl_fail(err, USPL_E_FILE,
					 "'%s' adds '%s' to %sseries, but not the patch", diff,
					 line, patches_folder);
		add_lines(patch, '+', ret);
	}
	return ret->oom ? uspl_fail_nomem(err) : 0;
}

/* *ret_series: the section of the series, NULL if the diff adds no patches in quilt's way. */
static int find_series(const char *diff, const char *tree, const section_list *sections,
		       const struct section **ret_series, struct uspl_err *err)
{
	const struct section *section;

	*ret_series = NULL;
	if (!is_quilt(tree))
		return 0;
	vec_for_each (sections, section) {
		auto_free char *name = section_name(section);
		const char *patch = name ? patch_name(name) : NULL;

		if (!name)
			return uspl_fail_nomem(err);
		if (patch && !strcmp(patch, "series"))
			*ret_series = section;
		else if (patch && !section->is_new)
			return fail_changed_patch(diff, patch, err);
	}
	return 0;
}

/* ---- both ---- */

/* What of the diff's own sections is for this tree. debdiff: what is below debian/ isn't. */
static int add_sections(const char *tree, const section_list *sections, bool debdiff,
			struct buf *ret, struct buf *left_out, struct uspl_err *err)
{
	const struct section *section;

	vec_for_each (sections, section) {
		auto_free char *name = section_name(section);
		bool out;

		if (!name)
			return uspl_fail_nomem(err);
		out = may_leave_out(section, tree, name);
		if (out)
			buf_addf(left_out, "%s%s", left_out->len ? ", " : "", name);
		if (!out &&
		    !(debdiff && (starts_with(name, "debian/") || strstr(name, "/debian/"))))
			buf_add(ret, section->start, (size_t)(section->end - section->start));
	}
	return ret->oom || left_out->oom ? uspl_fail_nomem(err) : 0;
}

int diff_arrange(const struct patch_file *patch, const char *tree, const char *text,
		 struct buf *ret, struct build *notes, struct uspl_err *err)
{
	section_list sections = { 0 };
	auto_buf struct buf left_out = { 0 };
	auto_buf struct buf kept = { 0 };
	const struct section *series = NULL;
	int rc = split(text, &sections, err);

	if (!rc)
		rc = find_series(patch->name, tree, &sections, &series, err);
	if (!rc && series)
		rc = add_quilt(patch->name, &sections, series, &kept, err);
	if (!rc)
		rc = add_sections(tree, &sections, series, &kept, &left_out, err);
	/* The words in front are the description. */
	if (!rc && !series && (kept.len || !sections.n))
		buf_add(ret, text,
			sections.n ? (size_t)(sections.items[0].start - text) : strlen(text));
	buf_add(ret, buf_str(&kept), kept.len);
	if (!rc && ret->oom)
		rc = uspl_fail_nomem(err);
	if (!rc && series)
		rc = build_note(notes, err,
				"of '%s' the patches count that it adds to debian/patches/series",
				patch->name);
	if (!rc && left_out.len)
		rc = build_note(notes, err, "left out of '%s', since the tree has no such file: %s",
				patch->name, buf_str(&left_out));
	vec_release(&sections);
	return rc;
}

char *diff_brings_patch(const char *text)
{
	static const char *const suffixes[] = { ".patch", ".diff", ".dpatch" };
	section_list sections = { 0 };
	const struct section *section;
	char *found = NULL;

	if (split(text, &sections, NULL))
		sections.n = 0;
	vec_for_each (&sections, section) {
		auto_free char *name = section_name(section);
		const char *dot = name ? strrchr(file_basename(name), '.') : NULL;

		for (size_t i = 0; dot && !found && i < ARRAY_SIZE(suffixes); i++)
			if (!section->is_gone && !strcmp(dot, suffixes[i]))
				found = take_ptr(name);
	}
	vec_release(&sections);
	return found;
}
