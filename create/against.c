// SPDX-License-Identifier: GPL-3.0-or-later
// against.c - programs as they were shipped, matched ahead on the machine that makes the update

#include "create/against.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "create/targets.h"
#include "match/image_elf.h"
#include "match/match.h"
#include "match/origin.h"

/* What -v says of a file. */
struct tally {
	size_t functions, alike, missing;
};

static void count(const struct match_finding *finding, void *ctx)
{
	struct tally *tally = ctx;

	tally->functions++;
	tally->alike += finding->alike > 0;
	tally->missing += !finding->piece;
	if (!finding->piece)
		log_debug("match", "%s: %s", finding->name, finding->why);
	else
		log_debug("match", "%s: at 0x%" PRIx64 ", %zu bytes, %zu others look alike",
			  finding->name, finding->piece->addr, finding->piece->len, finding->alike);
}

static void log_findings(const char *path, const struct match *match)
{
	struct tally tally = { 0 };

	if (!log_enabled(1))
		return;
	match_findings(match, count, &tally);
	log_info("match",
		 "'%s': %zu functions and parts of functions: %zu found, %zu of these told from "
		 "others that look alike, %zu not found",
		 path, tally.functions, tally.functions - tally.missing, tally.alike,
		 tally.missing);
}

static struct update_target *find_target(struct update *update, const char *path,
					 const struct image_file *file)
{
	struct update_target *target;

	vec_for_each (&update->targets, target)
		if (!strcmp(target->name, file_basename(path)) ||
		    (target->soname && file->soname && !strcmp(target->soname, file->soname)))
			return target;
	return update->targets.n == 1 ? update->targets.items : NULL;
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
static int whole_code(const struct build *build, const struct update_target *target,
		      struct objfile **ret, struct uspl_err *err)
{
	const struct build_link *link;

	vec_for_each (&build->links, link) {
		auto_free struct diff_unit *units = NULL;

		if (strcmp(link->path, target->path))
			continue;
		units = target_units(build, link);
		return units ? diff_whole(units, link->units.n, ret, err) : uspl_fail_nomem(err);
	}
	return uspl_fail(err, USPL_E_BUG, "the build has no '%s'", target->path);
}

static int add_build_id(struct update_target *target, const char *build_id, struct uspl_err *err)
{
	char **slot;

	vec_for_each (&target->build_ids, slot)
		if (!strcmp(*slot, build_id))
			return 0;
	slot = vec_push(&target->build_ids);
	if (slot)
		*slot = strdup(build_id);
	return slot && *slot ? 0 : uspl_fail_nomem(err);
}

static int add_place(struct update_match *record, const char *symbol, taddr addr,
		     struct uspl_err *err)
{
	struct update_place *place = vec_push(&record->places);

	if (!place)
		return uspl_fail_nomem(err);
	place->symbol = strdup(symbol);
	place->addr = addr;
	return place->symbol ? 0 : uspl_fail_nomem(err);
}

/* A target of the update and a file that it is for. */
struct shipped {
	struct update_target *target;
	const struct image_file *file;
	const struct earlier *earlier;
	struct match *match;
};

/* Where the code of that refname lies, if that is known. */
static bool find_place(const struct shipped *shipped, const char *refname, taddr *ret)
{
	const struct match_piece *piece;

	if (earlier_has(shipped->earlier, shipped->target, refname))
		return earlier_place(shipped->earlier, shipped->target, shipped->file->build_id,
				     refname, ret);
	if (match_require(shipped->match, refname, &piece, NULL) != 0)
		return false;
	*ret = piece->addr;
	return true;
}

/* Where the code lies that apply will match: what of it was found. */
static int add_record(const struct shipped *shipped, struct uspl_err *err)
{
	const struct objfile *pre = shipped->target->pre_code;
	const struct image_file *file = shipped->file;
	struct update_match *record = vec_push(&shipped->target->matched);
	int rc = 0;

	if (!record)
		return uspl_fail_nomem(err);
	record->build_id = strdup(file->build_id);
	record->file = strdup(file->image->name);
	if (!record->build_id || !record->file)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < pre->syms.n && !rc; i++) {
		const struct objsym *sym = pre->syms.items[i];
		taddr addr;

		if (sym->type != STT_SECTION && sym->sec && objsec_is_code(sym->sec) &&
		    find_place(shipped, sym->name, &addr))
			rc = add_place(record, sym->name, addr, err);
	}
	return rc ? rc : add_build_id(shipped->target, file->build_id, err);
}

static void explain_origin(const struct shipped *shipped, const char *unit, struct uspl_err *err)
{
	const struct origin update = { shipped->target->compiler, shipped->target->producer };
	auto_origin struct origin program = { 0 };

	origin_of_image(shipped->file->image, unit, &program);
	origin_explain(shipped->match, &update, &program, err);
}

/* All that the update changes, and no earlier one did, must be in the file. */
static int require_all(const struct shipped *shipped, struct uspl_err *err)
{
	const struct update_function *function;
	const struct match_piece *piece;

	vec_for_each (&shipped->target->functions, function) {
		int rc = earlier_has(shipped->earlier, shipped->target, function->symbol)
				 ? 0
				 : match_require(shipped->match, function->symbol, &piece, err);

		if (rc) {
			explain_origin(shipped, function->unit, err);
			return rc;
		}
	}
	return 0;
}

static int match_file(const struct objfile *whole, struct shipped *shipped, struct uspl_err *err)
{
	const struct image_file *file = shipped->file;
	auto_free struct match_hint *hints = NULL;
	size_t n;
	int rc = earlier_hints(shipped->earlier, shipped->target, file->build_id, whole, &hints, &n,
			       err);

	if (!rc)
		rc = match_run_hinted(file->image, whole, hints, n, &shipped->match, err);
	if (rc)
		return rc;
	log_findings(file->image->name, shipped->match);
	rc = require_all(shipped, err);
	return rc || !file->build_id ? rc : add_record(shipped, err);
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

static int against_file(const struct build *build, const struct reading *reading,
			const struct earlier *earlier, struct update *update, struct uspl_err *err)
{
	struct shipped shipped = { .file = &reading->file, .earlier = earlier };
	auto_objfile struct objfile *whole = NULL;
	int rc = reading->rc;

	if (rc) {
		if (err)
			*err = reading->err;
		return rc;
	}
	shipped.target = find_target(update, reading->path, &reading->file);
	if (!shipped.target)
		return fail_no_target(update, reading->path, err);
	rc = whole_code(build, shipped.target, &whole, err);
	if (!rc)
		rc = match_file(whole, &shipped, err);
	match_free(shipped.match);
	if (rc)
		uspl_context(err, "'%s' doesn't match the source", reading->path);
	return rc;
}

/*
 * Reading a file means finding its debugging information, unpacking it and sorting its symbols, for
 * each by itself.
 */
int against_files(const struct build *build, const struct against_options *options,
		  const struct earlier *earlier, struct update *update, struct uspl_err *err)
{
	size_t n = options->paths.n;
	auto_free struct reading *readings = calloc(n + 1, sizeof(*readings));
	int rc = 0;

	if (!readings)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		readings[i] = (struct reading){ .path = options->paths.items[i],
						.folder = options->folder };
	parallel_run(n, read_one, readings);
	for (size_t i = 0; i < n && !rc; i++)
		rc = against_file(build, &readings[i], earlier, update, err);
	for (size_t i = 0; i < n; i++)
		image_file_release(&readings[i].file);
	if (rc && err)
		demangle_message(err->msg, sizeof(err->msg));
	return rc;
}
