// SPDX-License-Identifier: GPL-3.0-or-later
// debdiff.c - diffs of packages, which have their changes within their changes
//
// A debdiff of a package in the format 3.0 (quilt) changes files below debian/patches, and their
// list debian/patches/series. The tree has the patches applied that the package has now. So the
// tool finds out what the debdiff does to the source by doing it. It compares the lists before and
// after: where one only goes on where the other ends, what it adds is the change, in its own words.
// Otherwise the tool copies the files that patches touch, takes the old patches out of them down to
// where the lists part, and puts the new ones in. The change is what differs then.
//
// A diff of an rpm package adds files and names them in PatchN lines of the spec file: likewise, as
// long as it only adds.
//
// Packages whose own rules apply their patches (format 1.0 with quilt or dpatch) are left as they
// are: the build does it.

#include "create/patch/debdiff.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/strmap.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "create/patch/diff_read.h"
#include "create/patch/patch.h"
#include "create/patch/patches_try.h"
#include "create/patch/sections.h"
#include "create/patch/series.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/tree_mirror.h"

struct debdiff {
	const struct build_paths *paths;
	const struct patch_file *patch;
	const section_list *sections;
	char *folder; /* where all of it is tried */
	series_patches was, is;
	size_t same; /* so many patches are the same at the beginning of both */
};

static const char patches_folder[] = "debian/patches";

const char *debdiff_below(const char *name, const char *folder)
{
	size_t len = strlen(folder);
	const char *at = strstr(name, folder);

	return at && at[len] == '/' && (at == name || at[-1] == '/') ? at + len + 1 : NULL;
}

/* ---- the lists of patches ---- */

/* "NAME", "NAME -p0"; what follows a '#' is a comment. */
static int read_line(const char *folder, char *line, series_patches *ret, struct uspl_err *err)
{
	static const char blanks[] = " \t\r";
	char *state = NULL, *name = strtok_r(line, blanks, &state);
	char *option = name ? strtok_r(NULL, blanks, &state) : NULL;
	struct series_patch *patch;

	if (!name || *name == '#')
		return 0;
	if (option && *option != '#' && strncmp(option, "-p", 2))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "%s/series: '%s' has an option other than -p", patches_folder,
				 name);
	patch = vec_push(ret);
	if (!patch)
		return uspl_fail_nomem(err);
	patch->path = file_join(folder, name);
	patch->option = option && *option != '#' && strcmp(option, "-p1") ? strdup(option) : NULL;
	return patch->path ? 0 : uspl_fail_nomem(err);
}

/* A package without a list has no patches. */
static int read_list(const char *package, series_patches *ret, struct uspl_err *err)
{
	auto_free char *folder = file_join(package, patches_folder);
	auto_free char *path = folder ? file_join(folder, "series") : NULL;
	auto_buf struct buf text = { 0 };
	char *state = NULL;
	int rc;

	if (!path)
		return uspl_fail_nomem(err);
	if (access(path, F_OK) < 0)
		return 0;
	rc = file_read(path, &text, err);
	buf_str(&text);
	if (rc)
		return rc;
	for (char *line = text.len ? strtok_r(text.data, "\n", &state) : NULL; line;
	     line = strtok_r(NULL, "\n", &state)) {
		rc = read_line(folder, line, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool same_patch(const struct series_patch *a, const struct series_patch *b)
{
	auto_buf struct buf one = { 0 };
	auto_buf struct buf other = { 0 };

	return !strcmp(file_basename(a->path), file_basename(b->path)) &&
	       !a->option == !b->option && (!a->option || !strcmp(a->option, b->option)) &&
	       !file_read(a->path, &one, NULL) && !file_read(b->path, &other, NULL) &&
	       one.len == other.len && !memcmp(buf_str(&one), buf_str(&other), one.len);
}

/* Names of patches as messages have them. */
static const char *listed_name(const struct series_patch *patch)
{
	return debdiff_below(patch->path, patches_folder);
}

/* Makes DEBDIFF/new/debian/patches what the debdiff makes of the package's. */
static int make_new_patches(const struct debdiff *debdiff, const char *package,
			    struct uspl_err *err)
{
	auto_free char *from = file_join(debdiff->paths->source, patches_folder);
	auto_free char *to = file_join(package, patches_folder);
	auto_free char *path = file_join(debdiff->folder, "packaging");
	struct patch_file packaging = { .name = debdiff->patch->name, .path = path };
	auto_buf struct buf text = { 0 };
	const struct section *section;
	int rc = from && to && path ? file_mkdirs(to, err) : uspl_fail_nomem(err);

	if (!rc && access(from, F_OK) == 0)
		rc = tree_mirror(from, to, err);
	vec_for_each (debdiff->sections, section) {
		auto_free char *name = section_name(section);
		size_t len = (size_t)(section->end - section->start);

		if (!name || !debdiff_below(name, patches_folder))
			continue;
		packaging.no_strip =
			text_starts_with(section->to ? section->to : "", patches_folder);
		buf_add(&text, section->start, len);
	}
	if (rc)
		return rc;
	rc = file_write(path, buf_str(&text), text.len, err);
	if (rc)
		return rc;
	return patch_apply(package, &packaging, err);
}

static int compare_lists(struct debdiff *debdiff, struct uspl_err *err)
{
	auto_free char *package = file_join(debdiff->folder, "new");
	series_patches *was = &debdiff->was, *is = &debdiff->is;
	int rc = package ? file_remove_tree(debdiff->folder, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = make_new_patches(debdiff, package, err);
	if (rc)
		return rc;
	rc = read_list(debdiff->paths->source, was, err);
	if (rc)
		return rc;
	rc = read_list(package, is, err);
	if (rc)
		return rc;
	while (debdiff->same < was->n && debdiff->same < is->n &&
	       same_patch(&was->items[debdiff->same], &is->items[debdiff->same]))
		debdiff->same++;
	return 0;
}

/* ---- patches that are only added ---- */

static int read_listed(const struct debdiff *debdiff, const struct series_patch *patch,
		       struct buf *ret, struct uspl_err *err)
{
	if (access(patch->path, F_OK) < 0)
		return uspl_fail(err, USPL_E_FILE, "'%s' adds '%s' to %s/series, but not the patch",
				 debdiff->patch->name, listed_name(patch), patches_folder);
	return file_read(patch->path, ret, err);
}

/* ---- patches that come, change and go ---- */

/* Copies what the patches touch to DEBDIFF/a and DEBDIFF/b. */
static int copy_touched(const struct debdiff *debdiff, struct uspl_err *err)
{
	const series_patches *lists[] = { &debdiff->was, &debdiff->is };
	auto_free char *a = file_join(debdiff->folder, "a");
	auto_free char *b = file_join(debdiff->folder, "b");
	auto_buf struct buf text = { 0 };
	auto_strmap struct strmap names = { 0 };
	int rc;

	if (!a || !b)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (size_t j = debdiff->same; j < lists[i]->n; j++) {
			rc = read_listed(debdiff, &lists[i]->items[j], &text, err);
			if (rc)
				return rc;
		}
	rc = diff_check(debdiff->patch->name, buf_str(&text), err);
	if (rc)
		return rc;
	rc = diff_names(buf_str(&text), &names, err);
	if (rc)
		return rc;
	rc = patches_copy_named(debdiff->paths->source, &names, a, err);
	if (rc)
		return rc;
	return patches_copy_named(debdiff->paths->source, &names, b, err);
}

static int swap_patch(const struct debdiff *debdiff, const struct series_patch *listed,
		      bool reverse, struct uspl_err *err)
{
	auto_free char *b = file_join(debdiff->folder, "b");
	struct patch_file patch = { .name = listed_name(listed),
				    .path = listed->path,
				    .option = listed->option,
				    .reverse = reverse };
	int rc = b ? patch_apply(b, &patch, err) : uspl_fail_nomem(err);

	if (rc != -USPL_E_BUILD)
		return rc;
	uspl_context(err, "'%s' changes patches that the tree has applied, and %s",
		     debdiff->patch->name,
		     reverse ? "one can't be taken out" : "one can't be applied then");
	uspl_hint(err, "give what it changes in the source as a diff of the two unpacked packages");
	return rc;
}

/* A line "--- a/NAME", without the time that diff(1) puts there. */
static void add_name(struct buf *ret, const char *sign, bool none, char folder, const char *name)
{
	if (none)
		buf_addf(ret, "%s /dev/null\n", sign);
	else
		buf_addf(ret, "%s %c/%s\n", sign, folder, name);
}

static int add_difference(const char *text, struct buf *ret, struct uspl_err *err)
{
	auto_vec section_list sections = { 0 };
	const struct section *section;
	int rc = sections_split(text, &sections, err);

	vec_for_each (&sections, section) {
		auto_free char *name = section_name(section);
		const char *hunks = section_hunks(section);

		if (!name || !hunks)
			continue;
		add_name(ret, "---", section->is_new, 'a', name);
		add_name(ret, "+++", section->is_gone, 'b', name);
		buf_add(ret, hunks, (size_t)(section->end - hunks));
	}
	return rc;
}

/* The first item that the debdiff adds to the changelog says what it is for. */
static void add_words(const struct debdiff *debdiff, struct buf *ret)
{
	const struct section *section;

	vec_for_each (debdiff->sections, section) {
		auto_free char *name = section_name(section);
		auto_buf struct buf added = { 0 };
		const char *item;

		if (!name || !debdiff_is_changelog(name))
			continue;
		section_lines(section, '+', &added);
		item = strstr(buf_str(&added), "\n  * ");
		if (item)
			buf_addf(ret, "Description: %.*s\n\n", (int)strcspn(item + 5, "\n"),
				 item + 5);
		return;
	}
}

static int add_effect(const struct debdiff *debdiff, struct buf *ret, struct uspl_err *err)
{
	const char *const argv[] = { "diff", "-urN", "a", "b", NULL };
	auto_buf struct buf difference = { 0 };
	int rc = copy_touched(debdiff, err), status;

	if (rc)
		return rc;
	for (size_t i = debdiff->was.n; i > debdiff->same; i--) {
		rc = swap_patch(debdiff, &debdiff->was.items[i - 1], true, err);
		if (rc)
			return rc;
	}
	for (size_t i = debdiff->same; i < debdiff->is.n; i++) {
		rc = swap_patch(debdiff, &debdiff->is.items[i], false, err);
		if (rc)
			return rc;
	}
	status = subprocess_run(argv, debdiff->folder, &difference, &difference, err);
	if (status < 0)
		return status;
	if (status > 1)
		return uspl_fail(err, USPL_E_BUILD, "cannot run 'diff'");
	if (difference.len)
		add_words(debdiff, ret);
	return add_difference(buf_str(&difference), ret, err);
}

static int resolve_quilt(struct debdiff *debdiff, struct buf *ret, struct build *notes,
			 struct uspl_err *err)
{
	const char *name = debdiff->patch->name;
	int rc = compare_lists(debdiff, err);
	bool adds = debdiff->same == debdiff->was.n;

	if (rc)
		return rc;
	for (size_t i = debdiff->same; i < debdiff->is.n; i++)
		adds &= !debdiff->is.items[i].option;
	if (adds) {
		for (size_t i = debdiff->same; i < debdiff->is.n; i++) {
			rc = read_listed(debdiff, &debdiff->is.items[i], ret, err);
			if (rc)
				return rc;
			if (ret->len && ret->data[ret->len - 1] != '\n')
				buf_addstr(ret, "\n");
		}
		if (ret->oom)
			return uspl_fail_nomem(err);
		return build_note(notes, err, "of '%s' the patches count that it adds to %s/series",
				  name, patches_folder);
	}
	rc = add_effect(debdiff, ret, err);
	if (rc)
		return rc;
	return build_note(notes, err, "of '%s' it counts what its change of %s makes of the source",
			  name, patches_folder);
}

/* ---- spec files ---- */

/* The name in a line "Patch12: NAME"; NULL if it is another line. */
static const char *spec_patch(const char *line)
{
	if (strncasecmp(line, "patch", 5))
		return NULL;
	line += 5 + strspn(line + 5, "0123456789");
	return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* The section that adds the file; of a name with macros (%{name}-1.patch) its end tells. */
static const struct section *find_new_file(const section_list *sections, const char *wanted)
{
	const char *end = strrchr(wanted, '}') ? strrchr(wanted, '}') + 1 : wanted;
	const struct section *section, *found = NULL;

	vec_for_each (sections, section) {
		auto_free char *name = section_name(section);
		const char *base = name ? file_basename(name) : "";
		bool is = end == wanted ? !strcmp(base, wanted) : *end && text_ends_with(base, end);

		if (!section->is_new || !is)
			continue;
		if (found)
			return NULL;
		found = section;
	}
	return found;
}

static int fail_spec(const struct debdiff *debdiff, const char *what, const char *name,
		     struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' %s, '%s'", debdiff->patch->name, what, name);
	uspl_hint(err, "give what changes in the source with --patch, as a diff of the two sources "
		       "that rpmbuild -bp unpacks");
	return -USPL_E_UNSUPPORTED;
}

/* Lines that the diff moves within the spec file are in both. */
static int add_spec_lines(const struct debdiff *debdiff, const struct section *spec,
			  struct buf *ret, size_t *ret_n, struct uspl_err *err)
{
	auto_buf struct buf gone = { 0 };
	auto_buf struct buf added = { 0 };
	char *state = NULL;

	section_lines(spec, '-', &gone);
	section_lines(spec, '+', &added);
	buf_addstr(&gone, "");
	buf_addstr(&added, "");
	if (gone.oom || added.oom)
		return uspl_fail_nomem(err);
	for (char *line = strtok_r(gone.data, "\r\n", &state); line;
	     line = strtok_r(NULL, "\r\n", &state))
		if (spec_patch(line) && !strstr(added.data, spec_patch(line)))
			return fail_spec(debdiff, "takes a patch out of the package",
					 spec_patch(line), err);
	for (char *line = strtok_r(added.data, "\r\n", &state); line;
	     line = strtok_r(NULL, "\r\n", &state)) {
		const char *name = spec_patch(line);
		const struct section *section =
			name ? find_new_file(debdiff->sections, name) : NULL;

		if (!name || (gone.len && strstr(buf_str(&gone), name)))
			continue;
		if (!section)
			return fail_spec(debdiff, "names a patch that it doesn't bring", name, err);
		section_lines(section, '+', ret);
		++*ret_n;
	}
	return 0;
}

/* A patch that is there already is in the tree as it was. */
static int check_old_patches(const struct debdiff *debdiff, struct uspl_err *err)
{
	const struct section *section;

	vec_for_each (debdiff->sections, section) {
		auto_free char *name = section_name(section);

		if (name && text_ends_with(name, ".patch") && !section->is_new)
			return fail_spec(debdiff, "changes a patch that the tree has applied", name,
					 err);
	}
	return 0;
}

/* *ret_n: so many patches it adds. */
static int resolve_spec(const struct debdiff *debdiff, struct buf *ret, size_t *ret_n,
			struct build *notes, struct uspl_err *err)
{
	const struct section *section;

	vec_for_each (debdiff->sections, section) {
		auto_free char *name = section_name(section);
		int rc;

		if (!name || !text_ends_with(name, ".spec"))
			continue;
		rc = check_old_patches(debdiff, err);
		if (rc)
			return rc;
		rc = add_spec_lines(debdiff, section, ret, ret_n, err);
		if (rc)
			return rc;
	}
	return !*ret_n ? 0
		       : build_note(notes, err,
				    "of '%s' the patches count that its spec file names",
				    debdiff->patch->name);
}

/* ---- both ---- */

bool debdiff_is_changelog(const char *name)
{
	const char *below = debdiff_below(name, "debian");

	return below && !strcmp(below, "changelog");
}

int debdiff_resolve(const struct build_paths *paths, const struct patch_file *patch,
		    const section_list *sections, struct buf *ret, enum debdiff_kind *ret_kind,
		    struct build *notes, struct uspl_err *err)
{
	struct debdiff debdiff = { .paths = paths, .patch = patch, .sections = sections };
	const struct section *section;
	auto_free char *format = NULL;
	auto_buf struct buf text = { 0 };
	bool of_patches = false;
	size_t n_spec = 0;
	int rc;

	*ret_kind = DEBDIFF_NONE;
	vec_for_each (sections, section) {
		auto_free char *name = section_name(section);

		of_patches |= name && debdiff_below(name, patches_folder);
	}
	debdiff.folder = file_join(paths->work, "debdiff");
	if (!debdiff.folder)
		return uspl_fail_nomem(err);
	format = file_join(paths->source, "debian/source/format");
	if (of_patches && format && !file_read(format, &text, NULL) &&
	    text_starts_with(buf_str(&text), "3.0 (quilt)")) {
		*ret_kind = DEBDIFF_QUILT;
		rc = resolve_quilt(&debdiff, ret, notes, err);
	} else {
		rc = resolve_spec(&debdiff, ret, &n_spec, notes, err);
		*ret_kind = n_spec ? DEBDIFF_SPEC : DEBDIFF_NONE;
	}
	if (!rc)
		rc = file_remove_tree(debdiff.folder, err);
	series_release(&debdiff.was);
	series_release(&debdiff.is);
	free(debdiff.folder);
	return rc;
}

bool debdiff_takes(enum debdiff_kind kind, const char *name)
{
	if (kind == DEBDIFF_QUILT)
		return debdiff_below(name, patches_folder);
	return kind == DEBDIFF_SPEC &&
	       (text_ends_with(name, ".spec") || text_ends_with(name, ".patch"));
}
