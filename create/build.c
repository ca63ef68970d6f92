// SPDX-License-Identifier: GPL-3.0-or-later
// build.c - the program built before and after the patch
//
// The order matters in three places. All diffs are read and the first one is tried before the long
// first build. What the first build made is taken in before the second one overwrites it. And the
// files that the patch touched get a new time after the first build has ended, so that they are
// newer than every object.

#include "create/build.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "create/build_parts.h"

/* What build_run works on. */
struct run {
	const struct build_options *options;
	struct build *build;
	struct build_paths paths;
	VEC(struct patch_file) patches;
	struct recipe recipe;
	struct prebuild prebuild;
	struct units *units;
	tree_files patched;
	plain_files plain; /* of these, those that were given line directives */
};

static void run_release(struct run *run)
{
	struct patch_file *patch;

	units_free(run->units);
	patched_release(&run->plain);
	tree_files_release(&run->patched);
	vec_for_each (&run->patches, patch)
		free(patch->path);
	vec_release(&run->patches);
	recipe_release(&run->recipe);
	prebuild_close(&run->prebuild);
	free(run->paths.source);
	free(run->paths.work);
	free(run->paths.tree);
}

DEFINE_AUTO_RELEASE(run, struct run, run_release)
#define auto_run __attribute__((cleanup(cleanup_run_)))

/* The folder that the user wants to keep: a new one, or an empty one. */
static int make_kept_folder(const char *path, struct uspl_err *err)
{
	int rc = file_mkdirs(path, err);

	if (rc)
		return rc;
	/* rmdir succeeds on an empty folder only. */
	if (rmdir(path) < 0)
		return uspl_fail_errno(err, "cannot use the folder '%s'", path);
	return mkdir(path, 0777) < 0 ? uspl_fail_errno(err, "cannot create the folder '%s'", path)
				     : 0;
}

static int make_work(const char *keep, char **ret_work, struct uspl_err *err)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *path = NULL;
	int rc = 0;

	if (keep)
		path = strdup(keep);
	else if (asprintf(&path, "%s/uspl-create.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		path = NULL;
	if (!path)
		return uspl_fail_nomem(err);
	if (keep)
		rc = make_kept_folder(path, err);
	else if (!mkdtemp(path))
		rc = uspl_fail_errno(err, "cannot create the folder '%s'", path);
	if (rc)
		return rc;
	*ret_work = realpath(path, NULL);
	return *ret_work ? 0 : uspl_fail_errno(err, "cannot find '%s'", path);
}

static int find_source(const char *source, char **ret, struct uspl_err *err)
{
	struct stat st;

	*ret = realpath(source, NULL);
	if (!*ret || stat(*ret, &st) < 0)
		return uspl_fail_errno(err, "cannot open the source folder '%s'", source);
	return S_ISDIR(st.st_mode) ? 0
				   : uspl_fail(err, USPL_E_FILE, "'%s' is not a folder", source);
}

/* The work folder in the one for the prebuild; prebuild_use makes it. */
static int open_prebuild(struct run *run, struct uspl_err *err)
{
	int rc = prebuild_open(run->options->prebuild, &run->prebuild, err);

	if (rc)
		return rc;
	run->paths.work = file_join(run->prebuild.folder, "work");
	return run->paths.work ? 0 : uspl_fail_nomem(err);
}

static int make_folders(struct run *run, struct uspl_err *err)
{
	const struct build_options *options = run->options;
	int rc = find_source(options->source, &run->paths.source, err);

	if (!rc)
		rc = recipe_find(run->paths.source, options->command, options->jobs, &run->recipe,
				 err);
	if (!rc)
		rc = options->prebuild ? open_prebuild(run, err)
				       : make_work(options->keep, &run->paths.work, err);
	if (rc)
		return rc;
	run->build->work = strdup(run->paths.work);
	run->build->keep = options->keep || options->prebuild;
	run->paths.tree = file_join(run->paths.work, "tree");
	return run->build->work && run->paths.tree ? 0 : uspl_fail_nomem(err);
}

/* The private tree: a new copy, or one that is built already. */
static int make_tree(struct run *run, struct uspl_err *err)
{
	auto_free char *why_not = NULL;
	int rc = 0;

	if (run->options->prebuild)
		rc = prebuild_use(&run->prebuild, &run->paths, &run->recipe, &why_not, err);
	if (!rc && why_not)
		rc = build_note(run->build, err,
				"the build in '%s' is made anew: '%s' isn't what it was",
				run->options->prebuild, why_not);
	if (rc || run->prebuild.usable)
		return rc;
	log_info("build", "copying '%s' to '%s'", run->paths.source, run->paths.tree);
	return tree_copy(&run->paths, err);
}

/* Reads all diffs into one text, and keeps each in a file of its own for patch(1). */
static int read_patches(struct run *run, struct buf *text, struct uspl_err *err)
{
	const char **name;
	int rc = 0;

	vec_for_each (&run->options->patches, name) {
		struct patch_file *patch = vec_push(&run->patches);
		size_t start = text->len;

		if (!patch)
			return uspl_fail_nomem(err);
		rc = patch_read(*name, text, err);
		if (rc)
			return rc;
		patch->name = *name;
		patch->text = start;
		patch->len = text->len - start;
	}
	return 0;
}

static int write_patches(struct run *run, const struct buf *text, struct uspl_err *err)
{
	struct patch_file *patch;

	vec_for_each (&run->patches, patch) {
		size_t number = (size_t)(patch - run->patches.items) + 1;
		int rc;

		if (asprintf(&patch->path, "%s/patch-%zu", run->paths.work, number) < 0) {
			patch->path = NULL;
			return uspl_fail_nomem(err);
		}
		rc = file_write(patch->path, text->data + patch->text, patch->len, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int run_phase(const struct run *run, const char *name, const char *command, bool quiet,
		     struct uspl_err *err)
{
	const struct phase phase = { name, command, quiet };

	return phase_run(&run->paths, run->options, &phase, err);
}

static int build_before(struct run *run, struct uspl_err *err)
{
	int rc = phase_prepare(&run->paths, err);

	if (rc || run->prebuild.usable)
		return rc ? rc : units_add_pre(run->units, err);
	rc = tree_renew_sources(run->paths.tree, err);
	if (!rc && run->recipe.setup)
		rc = run_phase(run, "pre", run->recipe.setup, false, err);
	if (!rc)
		rc = run_phase(run, "pre", run->recipe.build, false, err);
	if (!rc)
		rc = units_add_pre(run->units, err);
	if (!rc && run->options->prebuild)
		rc = prebuild_save(&run->prebuild, &run->paths, err);
	return rc;
}

static int renew_files(const tree_files *files, const struct timespec *now, struct uspl_err *err)
{
	struct timespec times[2] = { *now, *now };
	char **file;

	vec_for_each (files, file) {
		if (utimensat(AT_FDCWD, *file, times, 0) < 0)
			return uspl_fail_errno(err, "cannot set the time of '%s'", *file);
	}
	return 0;
}

/* What the patch touches, and all that includes it, becomes newer than what was built of it. */
static int renew_patched(struct run *run, struct uspl_err *err)
{
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	rc = renew_files(&run->patched, &now, err);
	return rc ? rc : units_renew_dependents(run->units, &run->patched, &now, err);
}

static int apply_patches(struct run *run, struct uspl_err *err)
{
	struct strmap inodes = { 0 };
	struct patch_file *patch;
	int rc = tree_snapshot(&run->paths, &inodes, err);

	vec_for_each (&run->patches, patch) {
		if (!rc)
			rc = patch_apply(run->paths.tree, patch, run->options->patch_opt, false,
					 err);
	}
	if (!rc)
		rc = tree_changed(run->paths.tree, &inodes, &run->patched, err);
	if (!rc)
		rc = patched_renumber(&run->paths, &inodes, &run->patched, &run->plain, err);
	strmap_release(&inodes);
	return rc ? rc : renew_patched(run, err);
}

/*
 * A build that fails is run once more without our directives: should they be the reason, it
 * succeeds; if not, the compiler names lines and shows them as the user's files have them.
 */
static int build_after(struct run *run, struct uspl_err *err)
{
	bool retry = run->plain.n > 0;
	int rc = run_phase(run, "post", run->recipe.build, retry, err);

	if (rc == -USPL_E_BUILD && retry) {
		log_info("build", "once more, with the line numbers of the patched files");
		rc = patched_restore(&run->plain, err);
		if (!rc)
			rc = renew_patched(run, err);
		if (!rc)
			rc = run_phase(run, "post", run->recipe.build, false, err);
	}
	return rc ? rc : units_add_post(run->units, &run->patched, err);
}

static int run_steps(struct run *run, struct uspl_err *err)
{
	const struct build_options *options = run->options;
	auto_buf struct buf text = { 0 };
	int rc = read_patches(run, &text, err);

	if (!rc)
		rc = make_folders(run, err);
	if (!rc)
		rc = make_tree(run, err);
	if (!rc)
		rc = write_patches(run, &text, err);
	if (!rc)
		rc = patch_apply(run->paths.tree, run->patches.items, options->patch_opt, true,
				 err);
	if (!rc)
		rc = build_before(run, err);
	if (!rc)
		rc = apply_patches(run, err);
	if (!rc)
		rc = build_after(run, err);
	if (rc)
		return rc;
	run->build->patch_len = text.len;
	run->build->patch = buf_take(&text);
	return 0;
}

int build_run(const struct build_options *options, struct build **ret, struct uspl_err *err)
{
	auto_build struct build *build = calloc(1, sizeof(*build));
	auto_run struct run run = { .options = options, .build = build };
	int rc;

	if (!build || !(run.units = units_new(build, &run.paths)))
		return uspl_fail_nomem(err);
	rc = run_steps(&run, err);
	if (rc)
		return rc;
	*ret = take_ptr(build);
	return 0;
}

int build_note(struct build *build, struct uspl_err *err, const char *fmt, ...)
{
	char **slot = vec_push(&build->notes);
	va_list args;
	int len = -1;

	va_start(args, fmt);
	if (slot)
		len = vasprintf(slot, fmt, args);
	va_end(args);
	if (slot && len < 0)
		build->notes.n--;
	return len < 0 ? uspl_fail_nomem(err) : 0;
}

void build_link_release(struct build_link *link)
{
	char **id;

	vec_for_each (&link->build_ids, id)
		free(*id);
	vec_release(&link->build_ids);
	vec_release(&link->units);
	free(link->soname);
	free(link->path);
}

void build_free(struct build *build)
{
	struct build_unit *unit;
	struct build_link *link;
	char **note;

	if (!build)
		return;
	vec_for_each (&build->units, unit) {
		free(unit->source);
		free(unit->object);
		free(unit->pre_obj);
		free(unit->post_obj);
	}
	vec_release(&build->units);
	vec_for_each (&build->links, link)
		build_link_release(link);
	vec_release(&build->links);
	vec_for_each (&build->notes, note)
		free(*note);
	vec_release(&build->notes);
	/* Nothing depends on it any more; what can't be removed stays in the temporary folder. */
	if (build->work && !build->keep && file_remove_tree(build->work, NULL) < 0)
		log_info("build", "cannot remove '%s'", build->work);
	free(build->work);
	free(build->patch);
	free(build);
}
