// SPDX-License-Identifier: GPL-3.0-or-later
// against.c - programs as they were shipped, matched ahead on the machine that makes the update

#include "create/against.h"

#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/parallel.h"
#include "create/diff.h"
#include "create/fit.h"
#include "create/targets.h"
#include "create/tree/build.h"
#include "create/unit/diff_unit.h"
#include "create/unit/linked.h"
#include "image/image_elf.h"

/* The files of one update. */
struct against {
	struct build *build;
	const struct earlier *earlier;
	struct update *update;
	bool of_package;
	size_t n_matched; /* files that are a target */
	struct uspl_err
		doubt; /* why a file that may be any program isn't one; code 0: there is none */
};

static bool has_name(const char *name, const char *soname, const char *path,
		     const struct image_file *file)
{
	return !strcmp(name, file_basename(path)) ||
	       (soname && file->soname && !strcmp(soname, file->soname));
}

static bool is_named(const struct update_target *target, const char *path,
		     const struct image_file *file)
{
	return has_name(target->name, target->soname, path, file);
}

static int fail_no_target(const struct update *update, const char *path, struct uspl_err *err)
{
	auto_buf struct buf names = { 0 };
	const struct update_target *target;

	vec_for_each (&update->targets, target)
		buf_addf(&names, "%s%s", names.len ? ", " : "", target->name);
	uspl_fail(err, USPL_E_USAGE, "'%s' is none of the programs that the update changes", path);
	uspl_hint(err, "it changes %s; tell which by the file's name", buf_str(&names));
	return -USPL_E_USAGE;
}

/* All code of the target before the patch. */
static int whole_code(const struct build *build, const struct earlier *earlier,
		      const struct update_target *target, struct objfile **ret,
		      struct uspl_err *err)
{
	const struct build_link *link = target_link(build, target);
	auto_free struct diff_unit *units = link ? target_units(build, link) : NULL;
	auto_linked struct linked *linked = NULL;
	int rc;

	if (!link)
		return uspl_fail(err, USPL_E_BUG, "the build has no '%s'", target->path);
	if (!units)
		return uspl_fail_nomem(err);
	rc = linked_open(link, link->file, earlier, target, &linked, err);
	if (rc)
		return rc;
	return diff_whole(units, link->units.n, linked, ret, err);
}

/* Where the code of that refname lies, if that is known. */
static bool find_place(const struct fit *fit, const char *refname, taddr *ret)
{
	const struct match_func *func;

	if (earlier_has(fit->earlier, fit->target, refname))
		return earlier_place(fit->earlier, fit->target, fit->file->build_id, refname, ret);
	if (match_require(fit->match, refname, &func, NULL) != 0)
		return false;
	*ret = func->addr;
	return true;
}

/* Notes where the code lies that apply will match, as far as it was found. */
static int add_record(const struct fit *fit, struct uspl_err *err)
{
	const struct objfile *pre = fit->target->pre_code;
	const struct image_file *file = fit->file;
	struct update_match *record = vec_push(&fit->target->matched);
	struct update_place *place;

	if (!record)
		return uspl_fail_nomem(err);
	record->build_id = strdup(file->build_id);
	record->file = strdup(file->image->name);
	if (!record->build_id || !record->file)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < pre->syms.n; i++) {
		const struct objsym *sym = pre->syms.items[i];
		taddr addr;

		if (sym->type == STT_SECTION || !sym->sec || !objsec_is_code(sym->sec) ||
		    !find_place(fit, sym->name, &addr))
			continue;
		place = vec_push(&record->places);
		if (!place)
			return uspl_fail_nomem(err);
		place->symbol = strdup(sym->name);
		place->addr = addr;
		if (!place->symbol)
			return uspl_fail_nomem(err);
	}
	return strvec_has(&fit->target->build_ids, file->build_id) ||
			       strvec_add(&fit->target->build_ids, file->build_id)
		       ? 0
		       : uspl_fail_nomem(err);
}

static int match_file(struct fit *fit, const struct objfile *whole, struct uspl_err *err)
{
	int rc = fit_match(fit, whole, err);

	if (rc)
		return rc;
	if (fit->file->build_id) {
		rc = add_record(fit, err);
		if (rc)
			return rc;
	}
	/* What uspl-apply will know of the program is less than what is known here. */
	rc = fit_match(fit, fit->target->pre_code, err);
	if (rc)
		return rc;
	return fit_link(fit, err);
}

/* A file and what came of reading it. */
struct reading {
	const char *path, *folder;
	struct image_file file;
	struct uspl_err err;
	int rc;
};

static void read_one(size_t index, void *ctx)
{
	struct reading *reading = (struct reading *)ctx + index;

	reading->rc =
		image_file_read(reading->path, reading->folder, &reading->file, &reading->err);
}

static int try_target(struct against *against, const struct reading *reading,
		      struct update_target *target, struct uspl_err *err)
{
	struct fit fit = { against->build, target, &reading->file, against->earlier, NULL, NULL };
	auto_objfile struct objfile *whole = NULL;
	int rc = whole_code(against->build, against->earlier, target, &whole, err);

	if (!rc)
		rc = match_file(&fit, whole, err);
	match_free(fit.match);
	if (rc)
		uspl_context(err, "'%s' doesn't match the source", reading->path);
	else
		against->n_matched++;
	return rc;
}

/*
 * Tries the targets that have the file's name (several: flavours of one program), or all, if none
 * has. The failure is the first one's.
 */
static int try_targets(struct against *against, const struct reading *reading, bool named,
		       struct uspl_err *err)
{
	struct uspl_err first = { 0 };
	struct update_target *target;

	vec_for_each (&against->update->targets, target) {
		struct uspl_err failure = { 0 };
		int rc;

		if (named && !is_named(target, reading->path, &reading->file))
			continue;
		rc = try_target(against, reading, target, &failure);
		if (!rc)
			return 0;
		if (!first.code)
			first = failure;
		if (rc != -USPL_E_NO_MATCH)
			break;
	}
	if (err)
		*err = first;
	return -(int)first.code;
}

/*
 * A file that has no target's name may be one all the same: distributions rename programs. If its
 * code says no, it may be a program that the patch has nothing to do with; unless it is the only
 * file, which was meant to be changed.
 */
static int against_unnamed(struct against *against, const struct reading *reading,
			   struct uspl_err *err)
{
	const char *path = reading->path;
	const struct build_link *link;
	struct uspl_err failure = { 0 };
	int rc;

	/*
	 * A program that the build links, and that the patch doesn't change, or it would be a
	 * target.
	 */
	vec_for_each (&against->build->links, link)
		if (has_name(file_basename(link->path), link->soname, path, &reading->file))
			return against->of_package
				       ? 0
				       : build_note(against->build, err,
						    "'%s' isn't changed by this patch", path);
	rc = try_targets(against, reading, false, &failure);
	if (rc != -USPL_E_NO_MATCH) {
		if (rc && err)
			*err = failure;
		return rc;
	}
	if (!against->doubt.code && against->update->targets.n == 1)
		against->doubt = failure;
	else if (!against->doubt.code)
		fail_no_target(against->update, path, &against->doubt);
	if (against->of_package)
		return 0;
	return build_note(against->build, err,
			  "'%s' is none of the programs that this patch changes: neither its name "
			  "nor its code is one of theirs",
			  path);
}

/*
 * Reading a file means finding its debugging information, unpacking it and sorting its symbols:
 * each is read by itself, in parallel.
 */
int against_files(struct build *build, const struct against_options *options,
		  const struct earlier *earlier, struct update *update, struct uspl_err *err)
{
	struct against against = { .build = build,
				   .earlier = earlier,
				   .update = update,
				   .of_package = options->of_package };
	size_t n = options->paths.n;
	const struct update_target *target;
	auto_free struct reading *readings = calloc(n + 1, sizeof(*readings));
	int rc = 0;

	if (!readings)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		readings[i] = (struct reading){ .path = options->paths.items[i],
						.folder = options->folder };
	parallel_run(n, read_one, readings);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct reading *reading = &readings[i];
		bool named = false;

		rc = reading->rc;
		if (rc && err)
			*err = reading->err;
		vec_for_each (&update->targets, target)
			named |= !rc && is_named(target, reading->path, &reading->file);
		if (!rc && named)
			rc = try_targets(&against, reading, true, err);
		else if (!rc)
			rc = against_unnamed(&against, reading, err);
	}
	for (size_t i = 0; i < n; i++)
		image_file_release(&readings[i].file);
	if (!rc && !against.n_matched && against.doubt.code) {
		if (err)
			*err = against.doubt;
		rc = -(int)against.doubt.code;
	}
	if (rc && err)
		demangle_message(err->msg, sizeof(err->msg));
	return rc;
}
