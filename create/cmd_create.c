// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_create.c - uspl-create: from a source diff to an update

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "command/commands.h"
#include "create/against.h"
#include "create/build/builder.h"
#include "create/fit.h"
#include "create/options.h"
#include "create/tree/authors.h"
#include "create/patch/describe.h"
#include "create/patch/diff_arrange.h"
#include "create/progress.h"
#include "create/provenance.h"
#include "create/shadow/shadow_auto.h"
#include "create/targets.h"
#include "create/tree/build.h"
#include "trust/signature.h"
#include "update/debug_file.h"

/* An update that is finished; all of a series are, before the first one is written. */
struct made {
	struct update *update;
	char *path; /* where it goes; NULL: nowhere */
	struct report report;
};

typedef VEC(struct made) made_list;

/* The changes that no update is made of. */
struct left_out {
	struct buf names;
	struct uspl_err first; /* why, of the first one */
};

static void left_out_release(struct left_out *left)
{
	buf_release(&left->names);
}
DEFINE_AUTO_RELEASE(left_out, struct left_out, left_out_release)
#define auto_left_out __attribute__((cleanup(cleanup_left_out_)))

static void made_release(struct made *made)
{
	update_free(made->update);
	free(made->path);
	report_release(&made->report);
}

static void list_release(made_list *list)
{
	struct made *made;

	vec_for_each (list, made)
		made_release(made);
	vec_release(list);
}

DEFINE_AUTO_RELEASE(made, made_list, list_release)
#define auto_made __attribute__((cleanup(cleanup_made_)))

/* The package that the source is of, and which version of it has the fix. */
static int describe_source(const struct create_options *options, const char *name,
			   struct update *update, struct uspl_err *err)
{
	int rc = provenance_package(options->build.source, update, err);

	if (rc || !options->fixed_in)
		return rc;
	return provenance_fixed_in(
		options->fixed_in,
		file_basename(name ? name : options->build.patches.items[0].path), update, err);
}

/* Moves what an update says about itself into it. */
static int describe(const struct create_options *options, size_t index, struct build *build,
		    struct update *update, struct uspl_err *err)
{
	char created[CLOCK_UTC_LEN];

	clock_utc_text(options->created, created);
	update->id = options_id(options, index);
	update->description =
		options->description ? strdup(options->description) : describe_patch(build->patch);
	update->created = strdup(created);
	update->tool = strdup("uspl " USPL_VERSION);
	update->patch = take_ptr(build->patch);
	update->patch_len = build->patch_len;
	if (!update->id || !update->description || !update->created || !update->tool)
		return uspl_fail_nomem(err);
	return describe_source(options, build->name, update, err);
}

/* Names the updates whose place it takes. */
static int name_replaced(const strvec *replaced, struct update *update, struct uspl_err *err)
{
	char *const *from;

	vec_for_each (replaced, from)
		if (!strvec_add(&update->replaces, *from))
			return uspl_fail_nomem(err);
	return 0;
}

/* The package that the update is made of, and where the files that it was matched with are then. */
static int describe_package(const struct package *package, const struct build *build,
			    struct update *update, struct uspl_err *err)
{
	struct update_target *target;
	struct update_match *match;

	if (!package->source)
		return 0;
	update->upgrade.source = strdup(package->source);
	update->upgrade.from = strdup(package->from);
	update->upgrade.to = strdup(package->to);
	if (!update->upgrade.source || !update->upgrade.from || !update->upgrade.to)
		return uspl_fail_nomem(err);
	/* Of a series each is one change. */
	if (build->name) {
		update->upgrade.change = strdup(file_basename(build->name));
		if (!update->upgrade.change)
			return uspl_fail_nomem(err);
	}
	vec_for_each (&update->targets, target)
		vec_for_each (&target->matched, match) {
			char *name = strdup(package_file_name(package, match->file));

			if (!name)
				return uspl_fail_nomem(err);
			free(match->file);
			match->file = name;
		}
	return 0;
}

static void print_warnings(const struct build *build, const struct report *report)
{
	char **text;

	vec_for_each (&report->warnings, text) {
		if (build->name)
			fprintf(stderr, "warning: '%s': %s\n", build->name, *text);
		else
			fprintf(stderr, "warning: %s\n", *text);
	}
}

/* Names the earlier updates that change one of the targets. */
static int name_earlier(const struct earlier *earlier, struct update *update, struct uspl_err *err)
{
	const struct update *const *older;

	vec_for_each (&earlier->updates, older)
		if (earlier_changes(*older, update) && !strvec_add(&update->after, (*older)->id))
			return uspl_fail_nomem(err);
	return 0;
}

/*
 * A diff of patches, which a package's build would apply, or a spec file names, changes no code if
 * the build doesn't apply them: that must not read as "nothing to do".
 */
static int refuse_patches(const struct update *update, int rc, struct uspl_err *err)
{
	auto_free char *name =
		rc == -USPL_E_NO_CHANGE && update->patch ? diff_brings_patch(update->patch) : NULL;

	if (!name)
		return rc;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the diff brings a patch, '%s', which the build doesn't apply", name);
	uspl_hint(err, "give that patch itself with --patch, or several in a folder with --series");
	return -USPL_E_UNSUPPORTED;
}

/*
 * Structures with new members are refused one by one, each time all that were found keep their old
 * form, and it is tried again.
 */
static int add_targets(const struct create_options *options, const struct builder *builder,
		       struct build *build, const struct earlier *earlier, struct made *made,
		       struct uspl_err *err)
{
	int rc = targets_add(build, &options->wanted, earlier, made->update, &made->report, err);

	for (size_t kept = 0; rc == -USPL_E_DATA_CHANGE && made->report.shadowed.n > kept;) {
		kept = made->report.shadowed.n;
		rc = shadow_auto_compile(build, builder_work(builder), &made->report, err);
		if (rc)
			return authors_say(rc, err, AUTHORS_LAYOUTS);
		update_drop_targets(made->update);
		rc = targets_add(build, &options->wanted, earlier, made->update, &made->report,
				 err);
	}
	return rc;
}

/* Hooks run for all threads at once. */
static int allow_by_thread(struct update *update, struct uspl_err *err)
{
	update->by_thread = true;
	if (!update_has_hooks(update))
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the update has hooks, which all threads meet in one instant: they can't "
			 "go over one by one (--by-thread)");
}

/* Makes the update of what the builder builds next. */
static int make_one(const struct create_options *options, size_t index, struct builder *builder,
		    const struct earlier *earlier, struct made *made, struct uspl_err *err)
{
	auto_build struct build *build = NULL;
	int rc = authors_say(builder_next(builder, &build, err), err, AUTHORS_BUILD);

	made->report.explain = options->explain;
	made->report.debug = options->debug_file && !options->dry_run;
	made->report.adopt_data = options->adopt_data;
	made->report.suggest = options->suggest;
	made->report.shadow = options->shadow;
	made->report.tree = options->build.source;
	made->update = update_new();
	if (!rc)
		rc = made->update ? describe(options, index, build, made->update, err)
				  : uspl_fail_nomem(err);
	if (!rc)
		made->report.patch = made->update->patch;
	/* Later ones of a series count lines as those before have left them. */
	if (!rc && !index)
		rc = patched_lines_read(made->update->patch, &made->report.patched, err);
	if (!rc && made->report.debug)
		rc = builder_lines_map(builder, &made->report.map, err);
	if (!rc && !options->wanted.names.n)
		rc = builder_find_shipped(builder, build, err);
	if (!rc)
		rc = add_targets(options, builder, build, earlier, made, err);
	rc = authors_say(refuse_patches(made->update, rc, err), err, AUTHORS_BUILD);
	if (!rc && options->by_thread)
		rc = allow_by_thread(made->update, err);
	if (!rc)
		rc = name_earlier(earlier, made->update, err);
	if (!rc)
		rc = name_replaced(&options->replaced, made->update, err);
	if (!rc)
		rc = against_files(build, &options->against, earlier, made->update, err);
	if (!rc)
		rc = fit_update(build, made->update, err);
	authors_say(rc, err, AUTHORS_PROGRAM);
	if (!rc)
		rc = describe_package(&options->package, build, made->update, err);
	for (size_t i = 0; build && i < build->notes.n; i++)
		fprintf(stderr, "note: %s\n", build->notes.items[i]);
	printf("%s", buf_str(&made->report.suggestion));
	/* What is refused for another reason needs no warnings. */
	if (!rc)
		print_warnings(build, &made->report);
	if (rc && build && build->name)
		uspl_context(err, "'%s'", build->name);
	return rc;
}

static int name_earlier_patches(const struct earlier *earlier, build_earlier_list *ret,
				struct uspl_err *err)
{
	const struct update *const *update;

	vec_for_each (&earlier->updates, update) {
		struct build_earlier *item = vec_push(ret);

		if (!item)
			return uspl_fail_nomem(err);
		*item = (struct build_earlier){ (*update)->id,
						(*update)->patch ? (*update)->patch : "" };
	}
	return 0;
}

/* A change can be left out if it is what can't be made, and not the machine that fails. */
static bool is_left_out(const struct create_options *options, int rc)
{
	if (!options->build.partly || rc == -USPL_E_CANCELLED)
		return false;
	return rc == -USPL_E_BUILD || (rc && uspl_code_status(rc) == USPL_STATUS_REFUSED);
}

/* Says so, and takes the patch out of the tree: those that follow are made without it. */
static int leave_out(struct builder *builder, struct left_out *left, struct uspl_err *why,
		     struct uspl_err *err)
{
	if (!left->names.len)
		left->first = *why;
	buf_addf(&left->names, "%s%s", left->names.len ? ", " : "",
		 file_basename(builder_last_name(builder)));
	uspl_context(why, "left out");
	uspl_err_note(stderr, why);
	return builder_take_back(builder, err);
}

/* A patch of a series that changes no code has no update, and does no harm. */
static int make_all(const struct create_options *options, made_list *list, struct left_out *left,
		    struct uspl_err *err)
{
	struct build_options build = options->build;
	auto_builder struct builder *builder = NULL;
	auto_earlier struct earlier earlier = { 0 };
	int rc = earlier_read(&earlier, &options->against.after, err);

	if (!rc)
		rc = name_earlier_patches(&earlier, &build.earlier, err);
	if (!rc)
		rc = authors_say(builder_new(&build, &builder, err), err, AUTHORS_BUILD);
	vec_release(&build.earlier);
	if (rc)
		return rc;
	for (size_t i = 0; builder_has_more(builder); i++) {
		struct made *made = vec_push(list);

		rc = made ? make_one(options, i, builder, &earlier, made, err)
			  : uspl_fail_nomem(err);
		if (rc == -USPL_E_NO_CHANGE && options->build.series) {
			fprintf(stderr, "note: %s\n", err->msg);
			made_release(made);
			list->n--;
			rc = 0;
		} else if (is_left_out(options, rc)) {
			struct uspl_err why = *err;

			made_release(made);
			list->n--;
			rc = leave_out(builder, left, &why, err);
		} else if (!rc) {
			rc = earlier_add(&earlier, made->update, err);
		}
		if (rc)
			return rc;
	}
	if (list->n)
		return 0;
	if (!left->names.len)
		return uspl_fail(err, USPL_E_NO_CHANGE, "no patch of the series changes any code");
	*err = left->first;
	return -(int)err->code;
}

/* Each update of a package says what the others don't bring, either. */
static int note_left_out(const struct left_out *left, made_list *list, struct uspl_err *err)
{
	struct made *made;

	vec_for_each (list, made) {
		struct update_upgrade *upgrade = &made->update->upgrade;

		if (!upgrade->source || !left->names.len)
			continue;
		upgrade->left_out = strdup(buf_str(&left->names));
		if (!upgrade->left_out)
			return uspl_fail_nomem(err);
	}
	return left->names.oom ? uspl_fail_nomem(err) : 0;
}

/* Takes away an update that was written, and what is beside it. */
static void take_back(const struct made *made)
{
	auto_free char *signature = signature_path(made->path);
	auto_free char *debug = debug_file_path(made->path);

	unlink(made->path);
	if (signature)
		unlink(signature);
	if (debug && made->report.debug)
		unlink(debug);
}

/* The debugging information of its new code, for whoever finds it beside the update. */
static int pack_debug(const struct made *made, const struct buf *tarball, struct buf *ret,
		      struct uspl_err *err)
{
	char digest[DIGEST_HEX];
	struct debug_file file = {
		.id = made->update->id,
		.digest = digest,
		.tree = made->report.debug_tree,
	};
	const struct numbered_source *source;
	struct update_target *target;
	bool oom = false;
	int rc;

	digest_hex(tarball->data, tarball->len, digest);
	/* All of these stay the update's and the report's. */
	vec_for_each (&made->update->targets, target) {
		struct objfile **debug = vec_push(&file.targets);

		oom |= !debug;
		if (debug)
			*debug = target->debug;
	}
	vec_for_each (&made->report.map, source) {
		struct debug_source *added = vec_push(&file.sources);

		oom |= !added;
		if (added)
			*added = (struct debug_source){ source->path, source->text };
	}
	rc = oom ? uspl_fail_nomem(err) : debug_file_pack(&file, made->update->created, ret, err);
	vec_release(&file.targets);
	vec_release(&file.sources);
	return rc;
}

/* The update and, with a key, its signature. */
static int write_one(const struct create_options *options, const struct key_secret *secret,
		     const struct made *made, struct uspl_err *err)
{
	auto_buf struct buf tarball = { 0 }, signature = { 0 };
	auto_free char *beside = signature_path(made->path);
	int rc = beside ? update_pack(made->update, &tarball, err) : uspl_fail_nomem(err);

	if (!rc && options->sign)
		rc = signature_make(tarball.data, tarball.len, secret, "", options->created,
				    &signature, err);
	if (rc)
		return rc;
	rc = file_write(made->path, tarball.data, tarball.len, err);
	if (rc)
		return rc;
	/* That of an update that was written over is not this one's. */
	unlink(beside);
	if (options->sign)
		rc = file_write(beside, signature.data, signature.len, err);
	if (!rc && made->report.debug) {
		auto_free char *path = debug_file_path(made->path);
		auto_buf struct buf debug = { 0 };

		rc = path ? pack_debug(made, &tarball, &debug, err) : uspl_fail_nomem(err);
		if (!rc)
			rc = file_write(path, debug.data, debug.len, err);
	}
	if (rc)
		take_back(made);
	return rc;
}

/* All updates or none. */
static int write_all(const struct create_options *options, const struct key_secret *secret,
		     const made_list *list, struct uspl_err *err)
{
	size_t written = 0;
	int rc = 0;

	for (; written < list->n && !rc; written++)
		if (list->items[written].path)
			rc = write_one(options, secret, &list->items[written], err);
	while (rc && --written > 0)
		take_back(&list->items[written - 1]);
	return rc;
}

static int create(struct create_options *options, struct uspl_err *err)
{
	auto_key_secret struct key_secret secret = { 0 };
	char *const *note;
	auto_made made_list list = { 0 };
	auto_free char *path = NULL;
	auto_left_out struct left_out left = { 0 };
	auto_update struct update *scratch = update_new();
	struct made *made;
	int rc = options_fetch(options, err);

	if (rc)
		return rc;
	vec_for_each (&options->package.notes, note)
		fprintf(stderr, "note: %s\n", *note);
	/* A failure must not be found out only after all builds. */
	rc = scratch ? describe_source(options, NULL, scratch, err) : uspl_fail_nomem(err);
	if (rc)
		return rc;
	if (options->sign)
		rc = key_secret_read(options->sign, &secret, err);
	if (rc)
		return rc;
	if (!options->dry_run) {
		rc = options_output(options, options->id, &path, err);
		if (rc)
			return rc;
	}
	if (options->shadow)
		shadow_auto_ask();
	rc = make_all(options, &list, &left, err);
	if (rc)
		return rc;
	vec_for_each (&list, made) {
		rc = options->dry_run ? 0
				      : options_output(options, made->update->id, &made->path, err);
		if (rc)
			return rc;
	}
	rc = note_left_out(&left, &list, err);
	if (rc)
		return rc;
	rc = write_all(options, &secret, &list, err);
	if (rc)
		return rc;
	vec_for_each (&list, made)
		printf("%s", buf_str(&made->report.explanation));
	vec_for_each (&list, made)
		if (made->path)
			printf("%s\n", made->path);
	return left.names.len ? USPL_STATUS_REFUSED : USPL_STATUS_DONE;
}

/*
 * ^C and its like are held back while there is a work folder: a running build ends on them
 * (build/phase.c), the folder is removed, and then they do what they always do.
 */
static void hold_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(how, &set, NULL);
}

int cmd_create(int argc, char **argv, struct uspl_err *err)
{
	auto_options struct create_options options = { 0 };
	struct progress_line line = { 0 };
	int rc = options_parse(argc, argv, &options, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : authors_say(rc, err, AUTHORS_REFUSALS);
	progress_ask(&line, &options.build);
	hold_signals(SIG_BLOCK);
	rc = create(&options, err);
	/* The folder with what was fetched is to go before a signal ends us here. */
	package_release(&options.package);
	hold_signals(SIG_UNBLOCK);
	return rc < 0 ? authors_say(rc, err, AUTHORS_REFUSALS) : rc;
}
