// SPDX-License-Identifier: GPL-3.0-or-later
// builder.c - the program built before and after the patch
//
// The order matters in three places. All diffs are tried before the long first build. What a build
// made is taken in before the next one overwrites it. And the files that a patch touches get a new
// time after the build before it has ended, so that they are newer than every object.
//
// In a series each patch is a step, and what its build made is what the next step starts from: not
// a build of the patched tree from its beginning, which would be another one, but the very objects
// of which the update before was made.

#include "create/tree/build.h"

#include "base/strvec.h"
#include "base/text.h"
#include "create/build/builder.h"
#include "create/build/copies.h"
#include "create/build/flags.h"
#include "create/build/phase.h"
#include "create/build/reconfigure.h"
#include "create/build/record.h"
#include "create/build/shipped.h"
#include "create/build/states.h"
#include "create/build/units.h"
#include "create/tree/authors.h"
#include "create/patch/diff_arrange.h"
#include "create/patch/diff_read.h"
#include "create/patch/language.h"
#include "create/patch/patch.h"
#include "create/patch/patched.h"
#include "create/patch/patches_try.h"
#include "create/tree/configured.h"
#include "create/tree/git.h"
#include "create/tree/paths.h"
#include "create/tree/prebuild.h"
#include "create/tree/recipe.h"
#include "create/tree/tree.h"
#include "create/tree/wrapper.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"

struct builder {
	const struct build_options *options;
	struct build_paths paths;
	patch_files patches;
	struct buf text; /* of all patches */
	size_t next;     /* the first patch of the next step */
	bool stepped;    /* a step has been built already */
	size_t last;     /* the first patch of the last step */
	bool applied;    /* it is in the tree, and may be taken back */
	struct recipe recipe;
	struct prebuild prebuild;
	struct units *units;
	struct copies copies;       /* of sources, which the build has made */
	struct strmap originals;    /* sources as they were at first */
	struct numbering numbering; /* of the lines of patched sources */
	struct shipped shipped;
	struct build *notes; /* those of the time before the first step */
};

/* One step: some patches and the build after them. */
struct step {
	struct builder *builder;
	struct build *build;
	size_t first, end; /* its patches */
	bool back;         /* they are taken out, and nothing is made of it */
	strvec patched;    /* the files that they change, and behind these the copies of these */
	size_t own;        /* how many without the copies */
};

static int make_folders(struct builder *builder, struct uspl_err *err)
{
	const struct build_options *options = builder->options;
	auto_free char *why_not = NULL;
	int rc = paths_find_source(options->source, &builder->paths.source, err);

	if (rc)
		return rc;
	rc = recipe_find(builder->paths.source, options->command, options->jobs, &builder->recipe,
			 err);
	if (rc)
		return rc;
	if (options->prebuild) {
		rc = prebuild_open(options->prebuild, &builder->prebuild, err);
		if (rc)
			return rc;
	}
	rc = paths_find(options, &builder->prebuild, &builder->paths, err);
	if (rc)
		return rc;
	if (builder->prebuild.folder) {
		rc = prebuild_use(&builder->prebuild, &builder->paths, &builder->recipe, &why_not,
				  err);
		if (rc)
			return rc;
	}
	/* Said at once: what follows takes its time. */
	if (why_not)
		fprintf(stderr, "note: the build in '%s' is made anew: '%s' isn't what it was\n",
			options->prebuild, why_not);
	if (builder->prebuild.usable)
		return 0;
	log_info("build", "copying '%s' to '%s'", builder->paths.source, builder->paths.tree);
	rc = tree_copy(&builder->paths, err);
	if (rc)
		return rc;
	return git_copy(&builder->paths, err);
}

/* Reads all diffs into one text. */
static int read_patches(struct builder *builder, struct uspl_err *err)
{
	const struct build_patch *wanted;

	vec_for_each (&builder->options->patches, wanted) {
		struct patch_file *patch = vec_push(&builder->patches);
		size_t start = builder->text.len;
		int rc = patch ? 0 : uspl_fail_nomem(err);

		if (!rc && wanted->text)
			buf_addstr(&builder->text, wanted->text);
		else if (!rc)
			rc = diff_read(wanted->path, &builder->text, err);
		if (rc)
			return rc;
		patch->name = wanted->name ? wanted->name : wanted->path;
		patch->option = wanted->option;
		patch->text = start;
		patch->len = builder->text.len - start;
	}
	return 0;
}

/* Replaces the text by what of the diffs is for this tree. */
static int arrange_patches(struct builder *builder, struct uspl_err *err)
{
	auto_buf struct buf arranged = { 0 };
	struct patch_file *patch;

	vec_for_each (&builder->patches, patch) {
		auto_free char *text = strndup(builder->text.data + patch->text, patch->len);
		size_t start = arranged.len;
		int rc = text ? diff_arrange(patch, &builder->paths, text, &arranged,
					     builder->notes, err)
			      : uspl_fail_nomem(err);

		if (rc)
			return rc;
		if (arranged.len == start)
			rc = uspl_fail(err, USPL_E_NO_CHANGE,
				       "'%s' changes no file of this tree: the patch changes no "
				       "code",
				       patch->name);
		if (rc)
			return rc;
		rc = diff_check(patch->name, buf_str(&arranged) + start, err);
		if (rc)
			return rc;
		patch->text = start;
		patch->len = arranged.len - start;
	}
	buf_release(&builder->text);
	builder->text = arranged;
	arranged = (struct buf){ 0 };
	return 0;
}

/* Keeps each diff in a file of its own for patch(1). */
static int write_patches(struct builder *builder, struct uspl_err *err)
{
	struct patch_file *patch;

	vec_for_each (&builder->patches, patch) {
		size_t number = (size_t)(patch - builder->patches.items) + 1;
		int rc;

		patch->path = text_format("%s/patch-%zu", builder->paths.work, number);
		if (!patch->path)
			return uspl_fail_nomem(err);
		rc = file_write(patch->path, builder->text.data + patch->text, patch->len, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void pass_over(struct builder *builder)
{
	while (builder->next < builder->patches.n && builder->patches.items[builder->next].in_tree)
		builder->next++;
}

/* Do the patches apply, before the long build? Of a series, those in the tree are passed over. */
static int try_patches(struct builder *builder, struct uspl_err *err)
{
	auto_buf struct buf names = { 0 };
	const struct patch_file *patch;
	int rc = patches_try(&builder->paths, buf_str(&builder->text), builder->options->series,
			     &builder->patches, err);

	if (rc)
		return rc;
	vec_for_each (&builder->patches, patch)
		if (patch->in_tree)
			buf_addf(&names, "%s'%s'", names.len ? ", " : "", patch->name);
	pass_over(builder);
	if (names.oom)
		return uspl_fail_nomem(err);
	if (!builder_has_more(builder))
		return uspl_fail(err, USPL_E_NO_CHANGE,
				 "the tree has all patches of the series already: %s",
				 buf_str(&names));
	return !names.len
		       ? 0
		       : build_note(builder->notes, err,
				    "the tree has these patches already, so no update is made of "
				    "them: %s",
				    buf_str(&names));
}

/* What the first build needs before it. */
static int run_setup(const struct builder *builder, struct phase *phase, struct uspl_err *err)
{
	const char *own = builder->recipe.setup;
	auto_buf struct buf setup = { 0 };
	int rc = tree_renew_sources(builder->paths.tree, err);

	if (rc)
		return rc;
	rc = configured_adapt(&builder->paths, &setup, err);
	if (rc || (!setup.len && !own))
		return rc;
	buf_addstr(&setup, own ? own : ":");
	phase->command = buf_str(&setup);
	return setup.oom ? uspl_fail_nomem(err)
			 : phase_run(&builder->paths, builder->options, phase, err);
}

/* A build that is kept must know of it, too, hence the file. */
static int build_by_installing(struct builder *builder, struct uspl_err *err)
{
	struct recipe *recipe = &builder->recipe;
	auto_free char *mark = file_join(builder->paths.work, "installs");

	if (!mark)
		return uspl_fail_nomem(err);
	free(recipe->build);
	recipe->build = take_ptr(recipe->install);
	return file_write(mark, "", 0, err);
}

/* The recipe's build; or its install step, where the build leaves the compiling to that. */
static int run_build(struct builder *builder, struct phase *phase, struct uspl_err *err)
{
	struct recipe *recipe = &builder->recipe;
	bool compiled = true;
	int rc;

	phase->command = recipe->build;
	rc = phase_run(&builder->paths, builder->options, phase, err);
	if (rc)
		return rc;
	if (recipe->install) {
		auto_record record_list records = { 0 };

		rc = record_read(builder->paths.work, "pre", &records, err);
		if (rc)
			return rc;
		compiled = units_compiled(&records);
	}
	if (compiled)
		return 0;
	log_info("build", "this package compiles when it installs");
	rc = build_by_installing(builder, err);
	phase->command = recipe->build;
	if (rc)
		return rc;
	return phase_run(&builder->paths, builder->options, phase, err);
}

/* Configures anew, already before the patch, what autoconf will have to configure anew after it. */
static int configure_before(const struct builder *builder, struct uspl_err *err)
{
	auto_buf struct buf commands = { 0 };
	struct uspl_err why = { 0 };
	struct phase phase = { .name = "pre",
			       .what = "configuring before the patch",
			       .quiet = true,
			       .failed = "the tree can't be configured anew" };
	int rc = reconfigure_before(&builder->paths, buf_str(&builder->text), &commands, err);

	if (rc || !commands.len || builder->recipe.twice)
		return rc;
	phase.command = buf_str(&commands);
	if (phase_run(&builder->paths, builder->options, &phase, &why) != 0)
		log_info("build", "%s", why.msg);
	return 0;
}

static int build_before(struct builder *builder, struct uspl_err *err)
{
	struct phase phase = { .name = "pre", .what = "building before the patch" };
	int rc = wrapper_prepare(&builder->paths, err);

	if (rc)
		return rc;
	/* What is kept may have been built by installing. */
	if (builder->prebuild.usable && builder->recipe.install &&
	    file_is_in(builder->paths.work, "installs")) {
		rc = build_by_installing(builder, err);
		if (rc)
			return rc;
	}
	if (builder->prebuild.usable)
		return units_add_pre(builder->units, err);
	rc = run_setup(builder, &phase, err);
	if (rc)
		return rc;
	rc = configure_before(builder, err);
	if (rc)
		return rc;
	rc = run_build(builder, &phase, err);
	if (rc)
		return rc;
	rc = units_add_pre(builder->units, err);
	if (rc)
		return rc;
	if (builder->prebuild.folder)
		return prebuild_save(&builder->prebuild, &builder->paths, err);
	return 0;
}

/* Code that no compiler was seen to make may be of another language than ours. */
static int say_language(const struct builder *builder, int rc, struct uspl_err *err)
{
	if (rc && err && err->page && !strcmp(err->page, AUTHORS_UNSEEN))
		language_say(buf_str(&builder->text), err);
	return rc;
}

int builder_new(const struct build_options *options, struct builder **ret, struct uspl_err *err)
{
	auto_builder struct builder *builder = calloc(1, sizeof(*builder));
	int rc;

	if (!builder)
		return uspl_fail_nomem(err);
	builder->options = options;
	builder->prebuild.lock = -1;
	builder->paths.lock = -1;
	builder->notes = calloc(1, sizeof(*builder->notes));
	builder->units = units_new(&builder->paths);
	if (!builder->notes || !builder->units)
		return uspl_fail_nomem(err);
	rc = read_patches(builder, err);
	if (rc)
		return rc;
	rc = make_folders(builder, err);
	if (rc)
		return rc;
	rc = patches_check_earlier(&builder->paths, &options->earlier, err);
	if (rc)
		return rc;
	rc = arrange_patches(builder, err);
	if (rc)
		return rc;
	rc = write_patches(builder, err);
	if (rc)
		return rc;
	rc = try_patches(builder, err);
	if (rc)
		return rc;
	rc = say_language(builder, build_before(builder, err), err);
	if (rc)
		return rc;
	rc = copies_find(builder->units, &builder->copies, err);
	if (rc)
		return rc;
	*ret = take_ptr(builder);
	return 0;
}

/* What the patch touches, and all that includes it, becomes newer than what was built of it. */
static int renew_patched(struct step *step, struct uspl_err *err)
{
	struct units *units = step->builder->units;
	auto_strvec strvec named = { 0 };
	struct timespec now, times[2];
	char **file;
	int rc = copies_follow(&step->builder->copies, &step->patched, err);

	if (rc)
		return rc;
	clock_gettime(CLOCK_REALTIME, &now);
	if (flags_may_change(&step->patched)) {
		rc = units_renew_all(units, &now, err);
		if (rc)
			return rc;
	}
	/* Newer than what is made of them and was just renewed. */
	clock_gettime(CLOCK_REALTIME, &now);
	times[0] = times[1] = now;
	vec_for_each (&step->patched, file)
		if (utimensat(AT_FDCWD, *file, times, 0) < 0)
			return uspl_fail_errno(err, "cannot set the time of '%s'", *file);
	rc = units_renew_dependents(units, &step->patched, &now, err);
	if (rc)
		return rc;
	rc = units_find_mentions(units, &step->patched, &named, err);
	if (rc || !named.n)
		return rc;
	return units_renew_dependents(units, &named, &now, err);
}

/*
 * The path in the tree that follows a word at the line's start; NULL if the line has another one.
 */
static char *path_behind(const struct builder *builder, const char *line, const char *word)
{
	size_t len = strlen(word);
	char *path;

	if (strncmp(line, word, len) != 0)
		return NULL;
	if (asprintf(&path, "%s/%.*s", builder->paths.tree, (int)strcspn(line + len, "\r\n"),
		     line + len) < 0)
		return NULL;
	return path;
}

/* A source that git has renamed has the original of its old name. */
static int note_renames(struct step *step, struct uspl_err *err)
{
	struct builder *builder = step->builder;
	const struct patch_file *first = &builder->patches.items[step->first];
	const struct patch_file *last = &builder->patches.items[step->end - 1];
	const char *line = buf_str(&builder->text) + first->text;
	const char *end = buf_str(&builder->text) + last->text + last->len;

	for (; line < end && *line; line += strcspn(line, "\n") + 1) {
		const char *next = line + strcspn(line, "\n");
		auto_free char *from = path_behind(builder, line, "rename from ");
		auto_free char *to =
			from && *next ? path_behind(builder, next + 1, "rename to ") : NULL;
		void *was = from ? strmap_get(&builder->originals, from) : NULL;

		if (to && was && !strmap_get(&builder->originals, to) &&
		    !strmap_set(&builder->originals, to, was))
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* A patch that needs one which was taken back may not apply any more: nothing is written then. */
static int check_patches(const struct step *step, struct uspl_err *err)
{
	for (size_t i = step->first; i < step->end; i++) {
		struct patch_file patch = step->builder->patches.items[i];
		int rc;

		patch.dry_run = true;
		rc = patch_apply(step->builder->paths.tree, &patch, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int apply_patches(struct step *step, struct uspl_err *err)
{
	struct builder *builder = step->builder;
	const struct build_paths *paths = &builder->paths;
	auto_strmap struct strmap inodes = { 0 };
	int rc = patched_take_out(&builder->numbering.plain, err);

	if (rc)
		return rc;
	rc = builder->options->partly ? check_patches(step, err) : 0;
	if (rc) {
		struct uspl_err why = *err;
		int put = patched_put_back(&builder->numbering.plain, &step->patched, err);

		if (!put)
			*err = why;
		return put ? put : rc;
	}
	rc = tree_snapshot(paths, &inodes, &builder->originals, err);
	if (rc)
		return rc;
	builder->applied = !step->back;
	for (size_t i = step->first; i < step->end; i++) {
		rc = patch_apply(paths->tree, &builder->patches.items[i], err);
		if (rc)
			return rc;
	}
	rc = note_renames(step, err);
	if (rc)
		return rc;
	rc = tree_changed(paths->tree, &inodes, &step->patched, err);
	if (rc)
		return rc;
	rc = patched_put_back(&builder->numbering.plain, &step->patched, err);
	if (rc)
		return rc;
	rc = patched_renumber(paths, &builder->originals, &step->patched, &builder->numbering, err);
	if (rc)
		return rc;
	git_hide_changes(paths, &step->patched);
	step->own = step->patched.n;
	return renew_patched(step, err);
}

/*
 * What autoconf has configured before the patch is configured anew. The rules of a package do that
 * by themselves. Where it fails the build may do without: flags_check finds out.
 */
static int reconfigure(const struct step *step, struct reconfigured *ret, struct uspl_err *err)
{
	struct builder *builder = step->builder;
	auto_buf struct buf commands = { 0 };
	struct phase phase = { .name = "post",
			       .what = "configuring after the patch",
			       .quiet = true,
			       .failed = "the tree can't be configured anew" };
	int rc = reconfigure_commands(&builder->paths, &step->patched, &commands, err);

	if (rc || !commands.len || builder->recipe.twice)
		return rc;
	phase.command = buf_str(&commands);
	rc = phase_run(&builder->paths, builder->options, &phase, &ret->why);
	ret->done = !rc;
	if (!rc)
		return 0;
	log_info("build", "%s", ret->why.msg);
	return reconfigure_note_failed(&builder->paths, ret, err);
}

/* Runs the build, and once more if something was compiled before what it includes was made. */
static int run_post(struct step *step, const struct phase *phase, struct uspl_err *err)
{
	struct builder *builder = step->builder;
	bool again = false;
	int rc = phase_run(&builder->paths, builder->options, phase, err);

	if (rc)
		return rc;
	rc = units_find_early(builder->units, &step->patched, false, &again, err);
	if (rc || !again)
		return rc;
	log_info("build", "once more, for what the build has changed itself");
	rc = phase_run(&builder->paths, builder->options, phase, err);
	if (rc)
		return rc;
	return units_find_early(builder->units, &step->patched, true, &again, err);
}

/*
 * A build that fails is run once more without our directives: should they be the reason, it
 * succeeds; if not, the compiler names lines and shows them as the user's files have them.
 */
static int build_after(struct step *step, const char *what, struct uspl_err *err)
{
	struct builder *builder = step->builder;
	struct phase phase = { .name = "post",
			       .command = builder->recipe.build,
			       .what = what,
			       .quiet = builder->numbering.plain.n > 0,
			       .twice = builder->recipe.twice,
			       .settled = units_only_sources(builder->units, &step->patched) };
	const strvec own = { step->patched.items, step->own, step->own };
	auto_reconfigured struct reconfigured reconfigured = { 0 };
	bool retry = phase.quiet, made = false;
	int rc = reconfigure(step, &reconfigured, err);

	if (!rc && phase.settled)
		rc = units_are_made_of(builder->units, &builder->copies, step->build->patch, &made,
				       err);
	phase.configured = phase.settled && !made;
	if (!rc)
		rc = run_post(step, &phase, err);
	if (rc == -USPL_E_BUILD && retry) {
		log_info("build", "once more, with the line numbers of the patched files");
		phase.quiet = false;
		rc = patched_give_up(&builder->numbering, err);
		if (rc)
			return rc;
		rc = renew_patched(step, err);
		if (rc)
			return rc;
		rc = run_post(step, &phase, err);
	}
	if (rc)
		return rc;
	builder->units->back = step->back;
	rc = units_add_post(builder->units, &step->patched, step->build, err);
	if (rc || step->back)
		return rc;
	rc = flags_check(builder->units, &step->patched, &reconfigured, err);
	if (rc)
		return rc;
	rc = units_note_unread(builder->units, &step->patched, step->build, err);
	if (rc)
		return rc;
	return states_check(builder->units, &builder->numbering, &own, err);
}

static int run_step(struct step *step, struct uspl_err *err)
{
	struct builder *builder = step->builder;
	auto_free char *what = NULL;
	int rc;

	what = text_format("building %s the patch%s%s", step->back ? "without" : "after",
			   step->build->name ? " " : "",
			   step->build->name ? file_basename(step->build->name) : "");
	if (!what)
		return uspl_fail_nomem(err);
	rc = builder->stepped ? units_start_over(builder->units, err) : 0;
	builder->stepped = true;
	if (!rc)
		rc = apply_patches(step, err);
	if (!rc)
		rc = build_after(step, what, err);
	if (rc && step->build->name)
		uspl_context(err, "'%s'", step->build->name);
	return rc;
}

int builder_next(struct builder *builder, struct build **ret, struct uspl_err *err)
{
	auto_build struct build *build =
		builder->notes ? take_ptr(builder->notes) : calloc(1, sizeof(*build));
	struct step step = {
		.builder = builder,
		.build = build,
		.first = builder->next,
		.end = builder->options->series ? builder->next + 1 : builder->patches.n,
	};
	const struct patch_file *first = &builder->patches.items[step.first];
	const struct patch_file *last = &builder->patches.items[step.end - 1];
	int rc;

	if (!build)
		return uspl_fail_nomem(err);
	/* The build's part of the text of all patches. */
	build->patch_len = last->text + last->len - first->text;
	build->patch = strndup(builder->text.data + first->text, build->patch_len);
	build->name = builder->options->series ? first->name : NULL;
	if (!build->patch)
		return uspl_fail_nomem(err);
	builder->next = step.end;
	builder->last = step.first;
	builder->applied = false;
	pass_over(builder);
	rc = say_language(builder, run_step(&step, err), err);
	strvec_release(&step.patched);
	if (rc)
		return rc;
	*ret = take_ptr(build);
	return 0;
}

const char *builder_work(const struct builder *builder)
{
	return builder->paths.work;
}

int builder_lines_map(const struct builder *builder, lines_map *ret, struct uspl_err *err)
{
	const struct compiled_file *file;
	size_t root = strlen(builder->paths.tree);

	vec_for_each (&builder->numbering.compiled, file) {
		int rc = 0;

		if (!strncmp(file->path, builder->paths.tree, root) && file->path[root] == '/')
			rc = lines_map_add(ret, file->path + root + 1, &file->text,
					   !file->kept.foreign, err);
		if (rc)
			return rc;
	}
	return 0;
}

const char *builder_last_name(const struct builder *builder)
{
	return builder->patches.items[builder->last].name;
}

int builder_take_back(struct builder *builder, struct uspl_err *err)
{
	auto_build struct build *build = NULL;
	struct patch_file *patch;
	struct step step = {
		.builder = builder,
		.first = builder->last,
		.end = builder->last + 1,
		.back = true,
	};
	int rc;

	if (!builder->applied)
		return 0;
	build = step.build = calloc(1, sizeof(*build));
	if (!build)
		return uspl_fail_nomem(err);
	patch = &builder->patches.items[step.first];
	build->name = patch->name;
	build->patch = strndup(builder->text.data + patch->text, patch->len);
	if (!build->patch)
		return uspl_fail_nomem(err);
	patch->reverse = true;
	rc = run_step(&step, err);
	patch->reverse = false;
	strvec_release(&step.patched);
	return rc;
}

bool builder_has_more(const struct builder *builder)
{
	return builder->next < builder->patches.n;
}

int builder_find_shipped(struct builder *builder, struct build *build, struct uspl_err *err)
{
	const struct build_link *link;
	bool changed = false;

	builder->shipped.command = builder->recipe.ship;
	vec_for_each (&build->links, link) {
		int rc = changed ? 0 : build_link_changed(build, link, &changed, err);

		if (rc)
			return rc;
	}
	if (!changed || !builder->recipe.ship)
		return 0;
	return shipped_find(&builder->shipped, &builder->paths, builder->options,
			    builder_has_more(builder), build, err);
}

void builder_free(struct builder *builder)
{
	struct patch_file *patch;
	const char *work;

	if (!builder)
		return;
	/* Nothing depends on it any more; what can't be removed stays in the temporary folder. */
	work = builder->paths.work;
	if (work && !builder->options->keep && !builder->options->prebuild &&
	    file_remove_tree(work, NULL) < 0)
		log_info("build", "cannot remove '%s'", work);
	units_free(builder->units);
	copies_release(&builder->copies);
	build_free(builder->notes);
	patched_release_numbering(&builder->numbering);
	strmap_release(&builder->originals);
	shipped_release(&builder->shipped);
	vec_for_each (&builder->patches, patch)
		free(patch->path);
	vec_release(&builder->patches);
	buf_release(&builder->text);
	recipe_release(&builder->recipe);
	prebuild_close(&builder->prebuild);
	paths_release(&builder->paths);
	free(builder);
}
