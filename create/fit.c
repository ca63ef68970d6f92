// SPDX-License-Identifier: GPL-3.0-or-later
// fit.c - tries an update with a program's file, as uspl-apply tries it with a process
//
// A name that the file itself doesn't explain may be one of a library's. Which libraries a process
// has is known from the file as far as it names them; a library that is a target itself is loaded
// by programs that aren't known here, and may find names in them.

#include "create/fit.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/log.h"
#include "create/libraries.h"
#include "create/targets.h"
#include "create/tree/build.h"
#include "link/link.h"
#include "match/match.h"
#include "match/origin.h"
#include "match/own_names.h"
#include "objfile/refname.h"

/* What -v says of a file. */
struct tally {
	size_t functions, alike, missing;
};

static void count(const struct match_finding *finding, void *ctx)
{
	struct tally *tally = ctx;

	tally->functions++;
	tally->alike += finding->alike > 0;
	tally->missing += !finding->func;
	if (!finding->func)
		log_debug("match", "%s: %s", finding->name, finding->why);
	else
		log_debug("match", "%s: at 0x%" PRIx64 ", %zu bytes, %zu others look alike",
			  finding->name, finding->func->addr, finding->func->len, finding->alike);
}

/* All that the update changes, and no earlier one did, must be in the file. */
static int require_all(const struct fit *fit, struct uspl_err *err)
{
	const struct origin update = { fit->target->compiler, fit->target->producer };
	auto_origin struct origin program = { 0 };
	const struct update_function *function;
	const struct match_func *func;

	vec_for_each (&fit->target->functions, function) {
		int rc = earlier_has(fit->earlier, fit->target, function->symbol)
				 ? 0
				 : match_require(fit->match, function->symbol, &func, err);

		if (!rc)
			continue;
		origin_of_image(fit->file->image, function->unit, &program);
		origin_explain(fit->match, &update, &program, err);
		return rc;
	}
	return 0;
}

/* Appends what the update says of the places in this build, as uspl-apply would heed it. */
static int add_recorded(const struct fit *fit, struct match_hint **hints, size_t *n,
			struct uspl_err *err)
{
	const struct update_match *record = NULL, *match;
	const struct update_place *place;
	struct match_hint *more;

	vec_for_each (&fit->target->matched, match)
		if (!record && fit->file->build_id && !strcmp(match->build_id, fit->file->build_id))
			record = match;
	if (!record)
		return 0;
	more = reallocarray(*hints, *n + record->places.n + 1, sizeof(**hints));
	if (!more)
		return uspl_fail_nomem(err);
	*hints = more;
	vec_for_each (&record->places, place)
		if (!earlier_has(fit->earlier, fit->target, place->symbol))
			more[(*n)++] = (struct match_hint){ place->symbol, place->addr };
	return 0;
}

int fit_match(struct fit *fit, const struct objfile *code, struct uspl_err *err)
{
	const struct image_file *file = fit->file;
	auto_free struct match_hint *hints = NULL;
	struct tally tally = { 0 };
	size_t n;
	int rc = earlier_hints(fit->earlier, fit->target, file->build_id, code, &hints, &n, err);

	match_free(take_ptr(fit->match));
	if (rc)
		return rc;
	rc = add_recorded(fit, &hints, &n, err);
	if (rc)
		return rc;
	rc = match_run_hinted(file->image, code, hints, n, &fit->match, err);
	if (rc)
		return rc;
	if (log_enabled(1)) {
		match_findings(fit->match, count, &tally);
		log_info("match",
			 "'%s': %zu functions and parts of functions: %zu found, %zu of these told "
			 "from others that look alike, %zu not found",
			 file->image->name, tally.functions, tally.functions - tally.missing,
			 tally.alike, tally.missing);
	}
	return require_all(fit, err);
}

/* ---- what names mean ---- */

/* What stands for a place that the file doesn't tell: within reach, and nowhere. */
static taddr elsewhere(const struct fit *fit)
{
	return fit->file->image->end;
}

/*
 * Is it what an earlier update brought, or what code of one refers to? That code isn't in the file,
 * but in the process it is matched, and tells where the name is.
 */
static bool known_by_earlier(const struct fit *fit, const char *refname)
{
	const struct objfile *pre = fit->target->pre_code;

	if (earlier_brings(fit->earlier, fit->target, refname))
		return true;
	for (size_t i = 0; fit->earlier->updates.n && i < pre->syms.n; i++) {
		const struct objsym *sym = pre->syms.items[i];
		const struct objrel *rel;
		bool refers = false;

		if (sym->type == STT_SECTION || !sym->sec || !objsec_is_code(sym->sec))
			continue;
		vec_for_each (&sym->sec->rels, rel)
			refers |= !strcmp(rel->sym->name, refname);
		if (refers && earlier_has(fit->earlier, fit->target, sym->name))
			return true;
	}
	return false;
}

static int local_value(const struct fit *fit, const struct objsym *sym, taddr *ret,
		       struct uspl_err *err)
{
	const struct image *image = fit->file->image;
	struct own_names own = own_names_find(fit->match, sym->name);
	int rc;

	if (own.n != 1 && known_by_earlier(fit, sym->name)) {
		*ret = elsewhere(fit);
		return 0;
	}
	rc = own_names_require_one(&own, sym->name, image->name, err);
	if (rc)
		return rc;
	*ret = own_names_value(image, own.first);
	return 0;
}

/* Names that the patch brings to other programs. */
struct brought {
	bool known;
	struct strmap names; /* -> struct build_link */
};

/* Notes the global names that a unit of a program defines after the patch only. */
static int note_new_names(const struct build_unit *unit, const struct build_link *link,
			  struct strmap *names, struct uspl_err *err)
{
	auto_objfile struct objfile *pre = NULL, *post = NULL;
	int rc = unit->pre_obj ? objfile_read_code(unit->pre_obj, &pre, err) : 0;

	if (rc)
		return rc;
	rc = objfile_read_code(unit->post_obj, &post, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < post->syms.n; i++) {
		const struct objsym *sym = post->syms.items[i];
		const struct objsym *old = pre ? objfile_symbol(pre, sym->name) : NULL;

		if (sym->bind != STB_LOCAL && sym->sec && !(old && old->sec) &&
		    !strmap_set(names, sym->name, (void *)link))
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int find_new_names(const struct fit *fit, struct strmap *names, struct uspl_err *err)
{
	const struct build_link *link;

	vec_for_each (&fit->build->links, link) {
		const size_t *index;

		vec_for_each (&link->units, index) {
			const struct build_unit *unit = &fit->build->units.items[*index];
			bool differs = unit->post_obj &&
				       (!unit->pre_obj || strcmp(unit->pre_obj, unit->post_obj));
			int rc = differs && strcmp(link->path, fit->target->path)
					 ? note_new_names(unit, link, names, err)
					 : 0;

			if (rc)
				return rc;
		}
	}
	return 0;
}

/* *ret: the program other than the target to which the patch brings that name; NULL. */
static int brought_elsewhere(const struct fit *fit, const char *name, const struct build_link **ret,
			     struct uspl_err *err)
{
	struct brought *brought = fit->brought;
	int rc = brought && !brought->known ? find_new_names(fit, &brought->names, err) : 0;

	*ret = NULL;
	if (rc || !brought)
		return rc;
	brought->known = true;
	*ret = strmap_get(&brought->names, name);
	return 0;
}

/* A global name that the file doesn't define, or defines in several places. */
static int other_value(const struct fit *fit, const struct objsym *sym, bool ambiguous,
		       struct uspl_err *err)
{
	const struct image *image = fit->file->image;
	const struct build_link *other;
	size_t n = 0;
	enum library_answer answer;
	taddr value;
	int rc;

	if (match_call(fit->match, sym->name, &value) || known_by_earlier(fit, sym->name))
		return 0;
	rc = libraries_define(fit->build, fit->file, sym->name, &answer, &n, err);
	if (rc || answer == LIBRARY_ONE)
		return rc;
	rc = brought_elsewhere(fit, sym->name, &other, err);
	if (rc)
		return rc;
	if (other) {
		uspl_fail(err, USPL_E_UNRESOLVED,
			  "'%s' is new in '%s': new code of '%s' can't refer to what an update "
			  "brings to another program or library",
			  sym->name, other->path, image->name);
		uspl_hint(err, "define what is new in a source of '%s', too, under another name",
			  image->name);
		return -USPL_E_UNRESOLVED;
	}
	if (answer == LIBRARY_UNKNOWN)
		return 0;
	if (ambiguous) {
		struct own_names own = own_names_find(fit->match, sym->name);

		return own_names_require_one(&own, sym->name, image->name, err);
	}
	if (sym->bind == STB_WEAK || !strcmp(sym->name, "__dso_handle"))
		return 0;
	return own_names_fail_nowhere(sym->name, n + 1, image->name, err);
}

static int global_value(const struct fit *fit, const struct objsym *sym, taddr *ret,
			struct uspl_err *err)
{
	struct own_names own = own_names_find(fit->match, sym->name);

	*ret = elsewhere(fit);
	if (own.n != 1)
		return other_value(fit, sym, own.n > 1, err);
	*ret = own_names_value(fit->file->image, own.first);
	return 0;
}

/* The order is that of apply/resolve.c. */
static int value_of(void *ctx, const struct objsym *sym, bool redirected, struct symbol_value *ret,
		    struct uspl_err *err)
{
	const struct fit *fit = ctx;
	const struct image *image = fit->file->image;
	int rc;

	if (redirected)
		return 0;
	*ret = (struct symbol_value){ .tls_offset = image->tls_offset, .tls_id = 1 };
	if (match_value(fit->match, sym->name, &ret->addr))
		return sym->type == STT_TLS && libraries_is_one(fit->file)
			       ? 0 /* the file doesn't tell where a library's block will be */
			       : own_names_check(fit->match, image, sym->name, ret->addr,
						 image->name, err);
	rc = refname_is_local(sym->name) ? local_value(fit, sym, &ret->addr, err)
					 : global_value(fit, sym, &ret->addr, err);
	if (rc)
		return rc;
	/*
	 * A variable of another module's threads: any distance will do, also where the program has
	 * none of its own.
	 */
	if (sym->type == STT_TLS && ret->addr == elsewhere(fit)) {
		ret->addr = (taddr)-PAGE;
		ret->tls_offset = -(int64_t)PAGE;
	}
	return 0;
}

int fit_link(struct fit *fit, struct uspl_err *err)
{
	taddr base = (fit->file->image->end + 2 * PAGE) & ~(taddr)(PAGE - 1);
	auto_link struct link *link = NULL;
	const struct image *image = fit->file->image;
	const uint8_t *bytes;
	size_t len;
	int rc = link_layout(fit->target->new_code, arch_native(), NULL, &link, err);

	if (rc)
		return rc;
	if (link->asks_caller) {
		link->return_place = image_return_place(image, arch_native(), &bytes, &len);
		if (!link->return_place)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "new code of '%s' calls '%s', which looks at its caller, "
					 "and no code of '%s' is fit to return to",
					 image->name, link->asks_caller, image->name);
	}
	link->threads.key_addr = link->threads.get = link->threads.create = base;
	link->threads.scratch = link->threads.leave = base;
	return link_relocate(link, base, value_of, fit, err);
}

/* ---- all targets ---- */

/* What earlier updates have changed is in this program, as in the source. */
static int fit_linked(const struct build *build, const struct build_link *link,
		      struct update_target *target, struct uspl_err *err)
{
	static const struct earlier none = { 0 };
	struct brought brought = { 0 };
	struct fit fit = {
		.build = build,
		.target = target,
		.earlier = &none,
		.brought = &brought,
	};
	auto_linked struct linked *linked = NULL;
	int rc = linked_open(link, link->before, &none, target, &linked, err);

	if (rc || !linked)
		return rc;
	fit.file = &linked->file;
	rc = fit_match(&fit, target->pre_code, err);
	if (!rc)
		rc = fit_link(&fit, err);
	match_free(fit.match);
	strmap_release(&brought.names);
	if (rc)
		uspl_context(err, "'%s' as it is built before the patch could not be patched",
			     link->path);
	return rc;
}

int fit_update(const struct build *build, struct update *update, struct uspl_err *err)
{
	struct update_target *target;

	vec_for_each (&update->targets, target) {
		const struct build_link *link = target_link(build, target);
		int rc = link && !target->matched.n ? fit_linked(build, link, target, err) : 0;

		if (rc)
			return rc;
	}
	return 0;
}
