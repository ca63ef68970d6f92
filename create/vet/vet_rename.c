// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_rename.c - variables that may only have got another name
 *
 * A variable that the patch renames, moves within a function's statics or gives another owner looks
 * like one that is gone and one that is new; and a new one starts with its initial value. If a
 * function that used one which is gone now uses a new one of the same size, that is refused: the
 * value of the running program would be lost without a word. One that is gone without a successor
 * is worth a warning only: its storage stays, for the undo.
 *
 * The function may have got another name, too, with all others that use the variable (a class or a
 * template's argument in it, a namespace around it). So a function that is new counts as one that
 * is gone if both are called in one place, or one by what the other's caller was: a place is a
 * function or table of the build before, and what came of it.
 *
 * There is a warning where a class of C++ gets another name: objects that exist have the old one,
 * by which dynamic_cast and exceptions know them.
 */

#include <string.h>

#include "base/demangle.h"
#include "create/unit/answer.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

static bool is_plain_variable(const struct objsym *sym)
{
	enum secinfo_kind kind = sym->sec ? secinfo_of(sym->sec)->kind : SECINFO_IGNORED;

	return (kind == SECINFO_DATA || kind == SECINFO_TLS || sym->shndx == SHN_COMMON) &&
	       sym_is_variable(sym) && !sym_is_pointer_for_tables(sym);
}

/* A symbol of the post build that has the name of one that is gone, as far as people wrote it. */
static bool has_namesake(const struct side *post, const struct objsym *gone)
{
	size_t len = name_base_len(gone->name);

	for (size_t i = 0; i < post->obj->syms.n; i++) {
		const struct objsym *sym = post->obj->syms.items[i];

		if (sym_is_variable(sym) && name_base_len(sym->name) == len &&
		    !memcmp(sym->name, gone->name, len) && sym_same_origin(sym, gone))
			return true;
	}
	return false;
}

/* Code or data of the build before, and what there is in its place. */
struct place {
	const struct objsec *was, *is;
};

typedef VEC(struct place) place_vec;

DEFINE_AUTO_RELEASE(places, place_vec, vec_release)
#define auto_places __attribute__((cleanup(cleanup_places_)))

/* The definition that a reference means, which may be in another unit. */
static const struct objsym *meant(const struct strmap *defs, const struct objsym *sym)
{
	const struct objsym *def = sym->sec ? NULL : strmap_get(defs, sym->name);

	return def ? def : sym;
}

/* The code of a function that only one of the builds has. */
static const struct objsec *lone_code(const struct objsym *sym)
{
	return sym_is_function(sym) && !syminfo_of(sym)->twin ? sym->sec : NULL;
}

static int add_place(place_vec *places, const struct objsec *was, const struct objsec *is,
		     struct uspl_err *err)
{
	struct place *place;

	vec_for_each (places, place)
		if (place->was == was && place->is == is)
			return 0;
	place = vec_push(places);
	if (!place)
		return uspl_fail_nomem(err);
	*place = (struct place){ was, is };
	return 0;
}

/*
 * What is called in a place, and only there in one of the builds, stands for what was called there,
 * or has been taken into it, or out of it.
 */
static int add_called(const struct diff *diff, place_vec *places, struct place from,
		      struct uspl_err *err)
{
	const struct objrel *old, *new;
	int rc = 0;

	vec_for_each (&from.was->rels, old) {
		const struct objsec *gone = lone_code(meant(&diff->pre_defs, old->sym));

		if (!gone || gone == from.was)
			continue;
		rc = add_place(places, gone, from.is, err);
		for (size_t i = 0; !rc && i < from.is->rels.n; i++) {
			const struct objsec *fresh =
				lone_code(meant(&diff->post_defs, from.is->rels.items[i].sym));

			if (fresh && fresh != from.is)
				rc = add_place(places, gone, fresh, err);
		}
		if (rc)
			return rc;
	}
	vec_for_each (&from.is->rels, new) {
		const struct objsec *fresh = lone_code(meant(&diff->post_defs, new->sym));

		if (fresh && fresh != from.is)
			rc = add_place(places, from.was, fresh, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool is_place(const struct secinfo *secinfo)
{
	return secinfo->kind == SECINFO_CODE || secinfo->kind == SECINFO_CONST ||
	       secinfo->kind == SECINFO_DATA;
}

static int find_places(const struct diff *diff, place_vec *places, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct objfile *obj = diff->units[i].post.obj;

		for (size_t j = 0; j < obj->secs.n; j++) {
			const struct secinfo *secinfo = secinfo_of(obj->secs.items[j]);
			const struct objsym *twin = secinfo_twin(secinfo);
			struct place *place;

			if (!is_place(secinfo) || !secinfo->carried || !twin || !twin->sec)
				continue;
			place = vec_push(places);
			if (!place)
				return uspl_fail_nomem(err);
			*place = (struct place){ twin->sec, obj->secs.items[j] };
		}
	}
	/* It grows meanwhile. */
	for (size_t i = 0; i < places->n; i++) {
		int rc = add_called(diff, places, places->items[i], err);

		if (rc)
			return rc;
	}
	return 0;
}

static bool uses(const struct strmap *defs, const struct objsec *sec, const struct objsym *sym)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (meant(defs, rel->sym) == sym)
			return true;
	return false;
}

/* A new variable of the same size, which is used where the gone one was. */
static const struct objsym *find_successor(const struct diff *diff, const struct objsec *user,
					   const struct objsym *gone)
{
	const struct objrel *rel;

	vec_for_each (&user->rels, rel) {
		const struct objsym *sym = meant(&diff->post_defs, rel->sym);

		if (is_plain_variable(sym) && !syminfo_of(sym)->twin && sym->size == gone->size &&
		    !answer_given_for(diff, sym))
			return sym;
	}
	return NULL;
}

static int refuse(const struct objsym *gone, const struct objsym *successor, struct uspl_err *err)
{
	auto_buf struct buf place = { 0 };
	int rc = uspl_fail(err, USPL_E_DATA_CHANGE,
			   "%s: variable '%s' is new and '%s' is gone: the same one under another "
			   "name?",
			   sym_srcloc(successor, &place), successor->name, gone->name);

	uspl_hint(err,
		  "keep the old name, then it keeps its value; or, if it is another one, keep the "
		  "old one too, with __attribute__((used))");
	return rc;
}

static int check_gone(const struct diff *diff, const place_vec *places, const struct objsym *gone,
		      struct uspl_err *err)
{
	auto_buf struct buf srcloc = { 0 };
	const struct place *place;
	bool used = false;

	vec_for_each (places, place) {
		const struct objsym *successor;

		if (!uses(&diff->pre_defs, place->was, gone))
			continue;
		successor = find_successor(diff, place->is, gone);
		if (successor)
			return refuse(gone, successor, err);
		used |= secinfo_of(place->is)->kind == SECINFO_CODE;
	}
	if (used)
		report_warn(diff->report,
			    "%s: variable '%s' isn't used any more; its value stays where it is",
			    sym_srcloc(gone, &srcloc), gone->name);
	return 0;
}

int vet_renamed_data(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	auto_places place_vec places = { 0 };

	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		const struct objsym *gone = unit->pre.obj->syms.items[i];
		int rc;

		if (!is_plain_variable(gone) || syminfo_of(gone)->twin ||
		    has_namesake(&unit->post, gone))
			continue;
		rc = places.n ? 0 : find_places(diff, &places, err);
		if (!rc)
			rc = check_gone(diff, &places, gone, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- classes ---- */

/* What stands for a class where it is asked for by name: the first characters of such a symbol. */
static const char typeinfo[] = "_ZTI";

static bool is_class(const struct objsym *sym)
{
	return sym->sec && !strncmp(sym->name, typeinfo, sizeof(typeinfo) - 1) &&
	       !syminfo_of(sym)->twin;
}

/* A class of the unit that isn't there after the patch any more. */
static const struct objsym *lost_class(const struct unit *unit)
{
	for (size_t i = 0; i < unit->pre.obj->syms.n; i++)
		if (is_class(unit->pre.obj->syms.items[i]))
			return unit->pre.obj->syms.items[i];
	return NULL;
}

int vet_warn_classes(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	const struct objsym *lost = lost_class(unit);

	(void)err;
	for (size_t i = 0; lost && i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		auto_free char *was = demangle_name(lost->name);
		auto_free char *is = demangle_name(sym->name);

		if (!is_class(sym))
			continue;
		report_warn(diff->report,
			    "%s: '%s' is new and '%s' is gone: objects that exist stay what they "
			    "are, and dynamic_cast and catch don't know them by the new name",
			    unit->source, is ? is : sym->name, was ? was : lost->name);
		return 0;
	}
	return 0;
}
