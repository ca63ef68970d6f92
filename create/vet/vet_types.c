// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_types.c - reasons to refuse that lie in types
 *
 * Only units with code in the update are looked at: a type whose layout changes, without any code
 * of a unit changing, isn't used by its code in a way that shows. docs/create.md has the table of
 * what is refused and what only gives a warning.
 */

#include <dwarf.h>
#include <string.h>

#include "create/diff/quiet_units.h"
#include "create/unit/answer.h"
#include "create/unit/diff_unit.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/suggest.h"
#include "create/vet/types_added.h"
#include "create/vet/types_room.h"
#include "create/vet/typeuse.h"
#include "create/vet/vet_checks.h"

static int collect(const struct diff *diff, type_changes *changes, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		struct unit *unit = &diff->units[i];
		size_t before = changes->n;
		int rc;

		if (!unit->pre.path || !unit->post.path || !unit_carries_code(unit))
			continue;
		if (!side_dbginfo(&unit->pre) || !side_dbginfo(&unit->post)) {
			report_warn(diff->report,
				    "%s has no debugging information: whether a type changes that "
				    "objects in the process have can't be checked",
				    unit->source);
			continue;
		}
		rc = types_compare(unit, changes, err);
		if (rc)
			return rc;
		unit->dbg_held = changes->n > before;
		unit_close_dbginfo(unit);
	}
	return 0;
}

static const char *place_of(struct type_change *change, struct buf *buf)
{
	/* Not every compiler says where an enumerator stands. */
	if (!dbginfo_add_srcloc(change->post_side->dbg, &change->where, buf) &&
	    !dbginfo_add_srcloc(change->post_side->dbg, &change->post, buf))
		buf_addstr(buf, change->post_side->source);
	return buf_str(buf);
}

/* Does a class have a constructor, be it one that the compiler makes for a member's default? */
static bool has_constructor(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die child;

	if (!name || dwarf_child(type, &child))
		return false;
	do {
		const char *own = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_subprogram && own && !strcmp(own, name))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void warn(const struct diff *diff, struct type_change *change)
{
	auto_buf struct buf place = { 0 };

	place_of(change, &place);
	if (change->adds && has_constructor(&change->post))
		report_warn(diff->report,
			    "%s: '%s' changes: %s; what is new isn't initialised in objects that "
			    "exist already: where only a constructor sets it, the change is not in "
			    "effect for objects that exist",
			    buf_str(&place), change->name, change->text);
	else if (change->adds)
		report_warn(diff->report,
			    "%s: '%s' changes: %s; what is new isn't initialised in objects that "
			    "exist already",
			    buf_str(&place), change->name, change->text);
	else
		report_warn(diff->report,
			    "%s: '%s' changes: %s; what exists already keeps its contents",
			    buf_str(&place), change->name, change->text);
}

static int refuse(const struct diff *diff, struct type_change *change, const struct type_use *use,
		  struct uspl_err *err)
{
	auto_buf struct buf place = { 0 }, room = { 0 }, places = { 0 };
	int rc;

	place_of(change, &place);
	if (change->is_variable) {
		rc = uspl_fail(err, USPL_E_DATA_CHANGE, "%s: variable '%s': %s", buf_str(&place),
			       change->name, change->text);
		uspl_hint(err, "the variable exists already, with a value of its old type; give "
			       "the new one a new name");
		return rc;
	}
	rc = types_find_room(change, use->end_used, &room, &places, err);
	if (rc)
		return rc;
	if (diff->report->shadow) {
		rc = types_note_added(change, buf_str(&places), diff->report, err);
		if (rc)
			return rc;
	}
	if (diff->report->suggest) {
		rc = suggest_shadows(diff, change, err);
		if (rc)
			return rc;
	}
	rc = uspl_fail(err, USPL_E_DATA_CHANGE, "%s: '%s' changes: %s%s%s", buf_str(&place),
		       change->name, change->text, use->n_users ? "; used by " : "",
		       buf_str(&use->users));
	if (room.len)
		uspl_hint(err, "%s: a member that is declared right there changes no layout",
			  buf_str(&room));
	else if (change->adds)
		uspl_hint(err, "objects that the process has already are of the old form; leave "
			       "the type as it is, and keep what is new beside it, in a shadow "
			       "variable: --suggest prints the code");
	else
		uspl_hint(err, "objects that the process has already are of the old form; leave "
			       "the type as it is, and keep what is new beside it: in a shadow "
			       "variable, or in a new type for new objects");
	return rc;
}

/* Refuses the first of one kind, causes before consequences. */
static int refuse_first(const struct diff *diff, type_changes *changes, bool follows,
			struct uspl_err *err)
{
	struct type_change *change;

	vec_for_each (changes, change) {
		auto_typeuse struct type_use use = { 0 };
		int rc = 0;

		if (!change->unsafe || change->follows != follows)
			continue;
		if (!change->is_variable)
			rc = typeuse_find(diff, change, &use, err);
		if (rc)
			return rc;
		if (!use.local && !answer_given(diff, change->name))
			return refuse(diff, change, &use, err);
	}
	return 0;
}

/* A library's name has ".so" in it, with or without a version behind. */
static bool is_library(const struct update_target *target)
{
	return target->soname || (target->name && strstr(target->name, ".so"));
}

/*
 * True if a function that is replaced takes or gives back something else than before. Then both
 * types are written out.
 */
static bool signature_changes(const struct objsym *sym, struct buf *was, struct buf *is)
{
	const struct objsym *twin = syminfo_of(sym)->twin;
	struct dbginfo *pre_dbg, *post_dbg;
	Dwarf_Die pre, post;

	if (!twin || !sym_is_function(sym) || !secinfo_of(sym->sec)->carried)
		return false;
	pre_dbg = side_dbginfo(syminfo_of(twin)->side);
	post_dbg = side_dbginfo(syminfo_of(sym)->side);
	if (!pre_dbg || !post_dbg || !dbginfo_find(pre_dbg, twin, &pre) ||
	    !dbginfo_find(post_dbg, sym, &post) ||
	    dbgtype_compare_functions(&pre, &post) != TYPE_OTHER)
		return false;
	dbgtype_spell_function(&pre, was);
	dbgtype_spell_function(&post, is);
	return true;
}

/*
 * May other modules call it by its name? A version script may hide it, and programs export what
 * libraries refer to, or all (-rdynamic).
 */
static bool is_exported(const struct diff *diff, const struct objsym *sym)
{
	auto_free char *bare = NULL;

	if (sym->bind == STB_LOCAL || sym->vis == STV_HIDDEN || sym->vis == STV_INTERNAL)
		return false;
	bare = strndup(sym->name, strcspn(sym->name, "@"));
	if (!diff->left_out.linked || !bare)
		return is_library(diff->target);
	return linked_exports(diff->left_out.linked, bare);
}

int vet_exports(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		auto_buf struct buf was = { 0 }, is = { 0 }, place = { 0 };

		if (!is_exported(diff, sym) || !signature_changes(sym, &was, &is))
			continue;
		if (!is_library(diff->target)) {
			report_warn(diff->report,
				    "%s: '%s' changes from '%s' to '%s', and the program exports "
				    "it: a plugin that calls it by its name goes on calling it as "
				    "before",
				    sym_srcloc(sym, &place), sym->name, buf_str(&was),
				    buf_str(&is));
			continue;
		}
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   "the exported function '%s' changes from '%s' to '%s'", sym->name,
			   buf_str(&was), buf_str(&is));
		uspl_hint(err,
			  "who uses the library goes on calling it as before; leave it as it "
			  "is, and add a new function, or hide it (visibility) if nobody does");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

int vet_warn_lookups(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	static const char *const functions[] = { "dlsym", "dlvsym", "g_module_symbol", "lt_dlsym" };
	const struct linked *linked = diff->left_out.linked;
	bool looks_up = false;

	(void)err;
	for (size_t i = 0; linked && i < ARRAY_SIZE(functions); i++)
		looks_up |= strmap_get(&linked->imports, functions[i]) != NULL;
	/* A program that has its main function among the names exports all (-rdynamic). */
	if (!looks_up || !(is_library(diff->target) || linked_exports(linked, "main")))
		return 0;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		auto_buf struct buf place = { 0 };

		if (!sym->sec || sym->bind != STB_GLOBAL || syminfo_of(sym)->twin ||
		    !(sym_is_function(sym) || sym_is_variable(sym)) || sym->vis == STV_HIDDEN ||
		    sym->vis == STV_INTERNAL || linked_exports(linked, sym->name))
			continue;
		report_warn(diff->report,
			    "%s: '%s' is new, and is in no table of the dynamic linker's: code "
			    "that looks it up by its name (dlsym) doesn't find it",
			    sym_srcloc(sym, &place), sym->name);
	}
	return 0;
}

static bool note_holder(const struct side *side, const struct objsym *function, struct buf *holder)
{
	const struct objsec *sec = typeuse_find_address(side, function);

	if (sec)
		buf_addstr(holder, sec_title(sec));
	return sec;
}

/*
 * The first code or data of the program, in the order of its units, that has a function's address;
 * nothing in holder if there is none. A unit whose code doesn't change may have it, too.
 */
static int find_holder(const struct diff *diff, const struct objsym *function, struct buf *holder,
		       struct uspl_err *err)
{
	const size_t *quiet;

	for (size_t i = 0; i < diff->n; i++)
		if (note_holder(&diff->units[i].pre, function, holder))
			return 0;
	vec_for_each (&diff->quiet, quiet) {
		struct unit unit = { 0 };
		int rc = quiet_open_pre(&unit, &diff->inputs[*quiet], err);
		bool found = !rc && note_holder(&unit.pre, function, holder);

		unit_release(&unit);
		if (rc || found)
			return rc;
	}
	return 0;
}

int vet_warn_signatures(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		auto_buf struct buf was = { 0 }, is = { 0 }, place = { 0 }, holder = { 0 };
		int rc;

		if (!signature_changes(sym, &was, &is))
			continue;
		rc = find_holder(diff, syminfo_of(sym)->twin, &holder, err);
		if (rc)
			return rc;
		if (holder.len)
			report_warn(diff->report,
				    "%s: '%s' changes from '%s' to '%s', and '%s' has its address: "
				    "what calls it by a pointer that is kept, and isn't in the "
				    "update, goes on calling it as before",
				    sym_srcloc(sym, &place), sym->name, buf_str(&was), buf_str(&is),
				    buf_str(&holder));
	}
	return 0;
}

int vet_types(const struct diff *diff, struct uspl_err *err)
{
	auto_types type_changes changes = { 0 };
	struct type_change *change;
	int rc = collect(diff, &changes, err);

	if (rc)
		return rc;
	rc = refuse_first(diff, &changes, false, err);
	if (rc)
		return rc;
	rc = refuse_first(diff, &changes, true, err);
	if (rc)
		return rc;
	vec_for_each (&changes, change)
		if (!change->unsafe)
			warn(diff, change);
	for (size_t i = 0; i < diff->n; i++) {
		diff->units[i].dbg_held = false;
		unit_close_dbginfo(&diff->units[i]);
	}
	return 0;
}
