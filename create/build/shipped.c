// SPDX-License-Identifier: GPL-3.0-or-later
// shipped.c - which of the programs that a source package links are in its packages
//
// A package's build also makes programs that users don't run: tests, and second flavours for
// Debian's installer (udebs). What is shipped isn't guessed from names: after the build the
// package's own install step fills the folders that packages are made of, and what lies there is
// looked at. Where the rules don't say where that is, the packages themselves are made, and
// unpacked.
//
// A shipped file is what the build linked if its build-id is the same, or its bytes; if neither is,
// by its name or soname (libtool links anew to install). A shipped program for which none of this
// holds may be any of them under another name: then nothing is known, and all of them count as
// shipped.

#include "create/build/shipped.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "create/build/linked_note.h"
#include "create/build/phase.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/tree.h"
#include "create/tree/tree_mirror.h"

/* A program of the build. */
struct candidate {
	struct build_link *link;
	struct build_link facts; /* of the program as it was linked last */
	char *path;
	off_t size;
	bool shipped;
};

struct survey {
	const struct build_paths *paths;
	struct candidate *candidates;
	size_t n;
	size_t found;   /* shipped files that the build linked */
	char *stranger; /* one that it didn't; NULL: there is none */
};

/* ---- the programs of the build ---- */

/* Before the install step, which may move what the build has made. */
static int note_candidates(struct survey *survey, struct build *build, struct uspl_err *err)
{
	struct build_link *link;

	survey->candidates = calloc(build->links.n + 1, sizeof(*survey->candidates));
	if (!survey->candidates)
		return uspl_fail_nomem(err);
	vec_for_each (&build->links, link) {
		struct candidate *candidate = &survey->candidates[survey->n++];
		struct stat st;
		int rc;

		candidate->link = link;
		candidate->path = *link->path == '/' ? strdup(link->path)
						     : file_join(survey->paths->tree, link->path);
		if (!candidate->path)
			return uspl_fail_nomem(err);
		candidate->size = stat(candidate->path, &st) == 0 ? st.st_size : -1;
		rc = linked_note(&candidate->facts, candidate->path, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- a shipped file ---- */

static bool has_build_id(const struct build_link *link, const char *id)
{
	char *const *own;

	vec_for_each (&link->build_ids, own)
		if (!strcmp(*own, id))
			return true;
	return false;
}

/* A file with what is known of it. */
struct shipped_file {
	const char *path;
	off_t size;
	struct build_link facts;
};

/* A build-id says no as well as yes, except for a program that was linked anew: is_by_name. */
static bool is_candidate(const struct candidate *candidate, const struct shipped_file *file)
{
	const char *id = file->facts.build_ids.n ? file->facts.build_ids.items[0] : NULL;

	if (id)
		return has_build_id(&candidate->facts, id) || has_build_id(candidate->link, id);
	return candidate->size == file->size && linked_same_bytes(candidate->path, file->path);
}

static bool is_by_name(const struct candidate *candidate, const struct shipped_file *file)
{
	const char *soname = candidate->link->soname;

	if (soname && file->facts.soname)
		return !strcmp(soname, file->facts.soname);
	return !strcmp(file_basename(candidate->link->path), file_basename(file->path));
}

static bool mark(struct survey *survey, const struct shipped_file *file,
		 bool (*is)(const struct candidate *, const struct shipped_file *))
{
	bool any = false;

	for (size_t i = 0; i < survey->n; i++) {
		if (!is(&survey->candidates[i], file))
			continue;
		survey->candidates[i].shipped = true;
		any = true;
	}
	return any;
}

static int look_at_file(const char *path, const struct stat *st, void *ctx, struct uspl_err *err)
{
	struct shipped_file file = { .path = path, .size = st->st_size };
	struct survey *survey = ctx;
	int rc;

	if (!linked_is_program(path))
		return 0;
	rc = linked_note(&file.facts, path, err);
	if (!rc && (mark(survey, &file, is_candidate) || mark(survey, &file, is_by_name)))
		survey->found++;
	else if (!rc && !survey->stranger)
		survey->stranger = strdup(path);
	build_link_release(&file.facts);
	return rc;
}

/* ---- packages ---- */

struct package {
	char *name;
	bool udeb;
};

typedef VEC(struct package) package_list;

/* The rest of a line that begins with the field's name, without blanks at its ends; or NULL. */
static char *field_value(char *line, const char *field)
{
	size_t len = strlen(field);

	if (strncasecmp(line, field, len))
		return NULL;
	line += len + strspn(line + len, " \t");
	line[strcspn(line, " \t\r")] = '\0';
	return line;
}

/* "Package-Type: udeb" may stand before or behind the name, and older rules write XC- before it. */
static int read_paragraph(char *text, package_list *ret, struct uspl_err *err)
{
	char *state = NULL, *name = NULL, *value;
	struct package *package;
	bool udeb = false;

	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		value = field_value(line, "Package:");
		name = value ? value : name;
		value = field_value(line, "Package-Type:");
		if (!value)
			value = field_value(line, "XC-Package-Type:");
		udeb |= value && !strcmp(value, "udeb");
	}
	if (!name || !*name || strchr(name, '/'))
		return 0;
	package = vec_push(ret);
	if (!package || !(package->name = strdup(name)))
		return uspl_fail_nomem(err);
	package->udeb = udeb;
	return 0;
}

/* Ends the paragraph that a text begins with; what follows it. */
static char *cut_paragraph(char *text)
{
	for (char *line = text; *line;) {
		char *next = line + strcspn(line, "\n");

		next += *next == '\n';
		if (line[strspn(line, " \t\r")] == '\n') {
			*line = '\0';
			return next;
		}
		line = next;
	}
	return NULL;
}

static int read_control(const char *tree, package_list *ret, struct uspl_err *err)
{
	auto_free char *path = file_join(tree, "debian/control");
	auto_buf struct buf text = { 0 };
	int rc = path ? file_read(path, &text, err) : uspl_fail_nomem(err);

	if (rc || !text.len)
		return rc;
	buf_str(&text);
	for (char *p = text.data, *next; p; p = next) {
		next = cut_paragraph(p);
		rc = read_paragraph(p, ret, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Where the rules put it, or where the finished package was unpacked. */
static int look_at_package(struct survey *survey, const struct package *package,
			   struct uspl_err *err)
{
	static const char *const places[] = { "shipped/%s", "tree/debian/%s" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		auto_free char *below = NULL;
		auto_free char *folder = NULL;
		struct stat st;

		below = text_format(places[i], package->name);
		if (!below)
			return uspl_fail_nomem(err);
		folder = file_join(survey->paths->work, below);
		if (!folder)
			return uspl_fail_nomem(err);
		if (lstat(folder, &st) == 0 && S_ISDIR(st.st_mode))
			return tree_walk(folder, look_at_file, survey, err);
	}
	return 0;
}

static int look_at_packages(struct survey *survey, const package_list *packages, bool tests,
			    struct uspl_err *err)
{
	const struct package *package;

	vec_for_each (packages, package) {
		/* Installed tests don't count, unless the source has no other programs. */
		bool of_tests = text_ends_with(package->name, "-test") ||
				text_ends_with(package->name, "-tests") ||
				text_ends_with(package->name, "-testsuite");
		int rc;

		if (package->udeb || text_ends_with(package->name, "-dbg") || of_tests != tests)
			continue;
		rc = look_at_package(survey, package, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int look_at_all(struct survey *survey, struct uspl_err *err)
{
	package_list packages = { 0 };
	struct package *package;
	int rc = read_control(survey->paths->tree, &packages, err);

	if (!rc)
		rc = look_at_packages(survey, &packages, false, err);
	if (!rc && !survey->found && !survey->stranger)
		rc = look_at_packages(survey, &packages, true, err);
	vec_for_each (&packages, package)
		free(package->name);
	vec_release(&packages);
	return rc;
}

/* ---- the install step ---- */

/* Where other patches are still to be built, the tree becomes what it was before the step. */
static int run_install(const struct build_paths *paths, const struct build_options *options,
		       const char *command, bool put_back, bool *ret_failed, struct uspl_err *err)
{
	auto_free char *aside = file_join(paths->work, "aside");
	struct phase phase = { .name = "ship",
			       .command = command,
			       .what = "finding out what the packages ship",
			       .quiet = true,
			       .ret_failed = ret_failed };
	int rc;

	if (!aside)
		return uspl_fail_nomem(err);
	rc = put_back ? tree_mirror(paths->tree, aside, err) : 0;
	if (rc)
		return rc;
	return phase_run(paths, options, &phase, err);
}

static int ask(struct shipped *shipped, const struct build_paths *paths,
	       const struct build_options *options, bool put_back, struct build *build,
	       struct survey *survey, struct uspl_err *err)
{
	auto_free char *aside = NULL;
	bool failed = false;
	int rc = note_candidates(survey, build, err);

	if (rc)
		return rc;
	rc = run_install(paths, options, shipped->command, put_back, &failed, err);
	if (rc)
		return rc;
	rc = failed ? build_note(build, err,
				 "what the packages ship isn't known, since the step fails that "
				 "fills them (build-ship.log with --keep): all programs count")
		    : look_at_all(survey, err);
	if (rc)
		return rc;
	if (survey->stranger)
		log_info("build", "'%s' is shipped, and which program it is isn't known",
			 survey->stranger);
	for (size_t i = 0; survey->found && !survey->stranger && i < survey->n; i++)
		if (!survey->candidates[i].shipped &&
		    !strmap_set(&shipped->left_out, survey->candidates[i].link->path, shipped))
			return uspl_fail_nomem(err);
	if (!put_back)
		return 0;
	aside = file_join(paths->work, "aside");
	if (!aside)
		return uspl_fail_nomem(err);
	rc = tree_mirror(aside, paths->tree, err);
	if (rc)
		return rc;
	return file_remove_tree(aside, err);
}

int shipped_find(struct shipped *shipped, const struct build_paths *paths,
		 const struct build_options *options, bool put_back, struct build *build,
		 struct uspl_err *err)
{
	struct survey survey = { .paths = paths };
	struct build_link *link;
	int rc = shipped->asked ? 0 : ask(shipped, paths, options, put_back, build, &survey, err);

	for (size_t i = 0; i < survey.n; i++) {
		build_link_release(&survey.candidates[i].facts);
		free(survey.candidates[i].path);
	}
	free(survey.candidates);
	free(survey.stranger);
	shipped->asked = true;
	vec_for_each (&build->links, link)
		link->unshipped = strmap_get(&shipped->left_out, link->path);
	return rc;
}

void shipped_release(struct shipped *shipped)
{
	strmap_release(&shipped->left_out);
}
