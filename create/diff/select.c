// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * select.c - what the new code has to carry
 *
 * Every function that changed, and from there, reference by reference, what the running program
 * doesn't have: new functions, new variables with their initial values, literals, and copies of
 * constant tables that changed. What has a twin stays where it is, in the running program, and is
 * referred to by name: a function, because a redirected one begins with a jump to its new code; a
 * variable, because its storage is there; an unchanged constant, because its address may be
 * compared with one that the program holds already.
 *
 * A new function or variable that nothing carried refers to isn't needed and is left out.
 */

#include "create/diff/select.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "create/unit/literal.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

struct selection {
	struct diff *diff;
	VEC(struct objsec *) todo; /* carried, references not yet looked at */
	struct uspl_err *err;
};

static void selection_release(struct selection *sel)
{
	vec_release(&sel->todo);
}

DEFINE_AUTO_RELEASE(selection, struct selection, selection_release)
#define auto_selection __attribute__((cleanup(cleanup_selection_)))

static int carry(struct selection *sel, struct objsec *sec)
{
	struct objsec **slot;

	if (secinfo_of(sec)->carried)
		return 0;
	slot = vec_push(&sel->todo);
	if (!slot)
		return uspl_fail_nomem(sel->err);
	*slot = sec;
	secinfo_of(sec)->carried = true;
	return secinfo_of(sec)->other ? carry(sel, secinfo_of(sec)->other) : 0;
}

static const char *name_of(const struct objsec *sec)
{
	return secinfo_of(sec)->owner ? secinfo_of(sec)->owner->name : sec->name;
}

/* A reference to a place within a section. */
static int follow_section(struct selection *sel, const struct objsec *from, struct objsec *sec)
{
	const struct secinfo *secinfo = secinfo_of(sec);

	if (secinfo->carried)
		return 0;
	switch (secinfo->kind) {
	case SECINFO_LITERAL:
		return carry(sel, sec);
	case SECINFO_CODE:
		/*
		 * The way from a .cold part to its function is carried already: this leads into the
		 * middle of another function.
		 */
		return uspl_fail(sel->err, USPL_E_UNSUPPORTED,
				 "%s: new code refers to the middle of '%s', in '%s'",
				 secinfo->unit->source, name_of(sec), name_of(from));
	default:
		return uspl_fail(sel->err, USPL_E_UNSUPPORTED,
				 "%s: '%s' refers to section '%s', but not to a variable in it",
				 secinfo->unit->source, name_of(from), sec->name);
	}
}

/* A reference to a function or variable that may be defined in another unit. */
static int follow_symbol(struct selection *sel, struct objsym *sym)
{
	struct objsym *def = sym;

	if (!sym->sec && sym->shndx != SHN_COMMON)
		def = strmap_get(&sel->diff->post_defs, sym->name);
	if (!def)
		return 0;
	if (!syminfo_of(def)->twin && sym_other_name_of(def))
		def = sym_other_name_of(def);
	if (def->shndx == SHN_COMMON) {
		syminfo_of(def)->carried = !syminfo_of(def)->twin;
		return 0;
	}
	if (sym_is_pointer_for_tables(def))
		return carry(sel, def->sec);
	if (!syminfo_of(def)->twin || secinfo_of(def->sec)->kind == SECINFO_CONST) {
		struct secinfo *secinfo = secinfo_of(def->sec);

		if (syminfo_of(def)->twin && !secinfo->reason)
			return 0;
		if (!secinfo->reason)
			secinfo->reason = "new";
		return carry(sel, def->sec);
	}
	return 0;
}

static int follow_references(struct selection *sel, const struct objsec *sec)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	const struct objrel *rel;

	for (struct objsec *note = secinfo->marks; note; note = secinfo_of(note)->next_mark) {
		int rc = carry(sel, note);

		if (rc)
			return rc;
	}
	if (secinfo->lsda) {
		int rc = carry(sel, secinfo->lsda);

		if (!rc && secinfo->personality)
			rc = follow_symbol(sel, secinfo->personality);
		if (rc)
			return rc;
	}
	vec_for_each (&sec->rels, rel) {
		int rc;

		if ((rel->sym->type == STT_SECTION && rel->sym->sec) || literal_is_anchor(rel->sym))
			rc = follow_section(sel, sec, rel->sym->sec);
		else
			rc = follow_symbol(sel, rel->sym);
		if (rc)
			return rc;
	}
	return 0;
}

int select_parts(struct diff *diff, struct uspl_err *err)
{
	auto_selection struct selection sel = { .diff = diff, .err = err };
	int rc;

	for (size_t i = 0; i < diff->n; i++) {
		const struct side *post = &diff->units[i].post;

		for (size_t j = 0; j < post->obj->secs.n; j++) {
			struct objsec *sec = post->obj->secs.items[j];

			if (secinfo_of(sec)->kind != SECINFO_CODE || !secinfo_of(sec)->reason)
				continue;
			rc = carry(&sel, sec);
			if (rc)
				return rc;
		}
	}
	for (size_t i = 0; i < diff->hooks.n; i++) {
		struct objsec *sec = diff->hooks.items[i].function->sec;

		secinfo_of(sec)->reason = "hook";
		rc = carry(&sel, sec);
		if (rc)
			return rc;
	}
	/* The list grows while it is read. */
	for (size_t i = 0; i < sel.todo.n; i++) {
		rc = follow_references(&sel, sel.todo.items[i]);
		if (rc)
			return rc;
	}
	return 0;
}
