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

static int carry(struct selection *sel, struct objsec *sec)
{
	struct objsec **slot;

	if (part_of(sec)->carried)
		return 0;
	slot = vec_push(&sel->todo);
	if (!slot)
		return uspl_fail_nomem(sel->err);
	*slot = sec;
	part_of(sec)->carried = true;
	return part_of(sec)->other ? carry(sel, part_of(sec)->other) : 0;
}

static const char *name_of(const struct objsec *sec)
{
	return part_of(sec)->owner ? part_of(sec)->owner->name : sec->name;
}

/* A reference to a place within a section. */
static int follow_section(struct selection *sel, const struct objsec *from, struct objsec *sec)
{
	const struct part *part = part_of(sec);

	if (part->carried)
		return 0;
	switch (part->kind) {
	case PART_LITERAL:
		return carry(sel, sec);
	case PART_CODE:
		/*
		 * The way from a .cold part to its function is carried already: this leads into
		 * the middle of a stranger.
		 */
		return uspl_fail(sel->err, USPL_E_UNSUPPORTED,
				 "%s: new code refers to the middle of '%s', in '%s'",
				 part->unit->source, name_of(sec), name_of(from));
	default:
		return uspl_fail(sel->err, USPL_E_UNSUPPORTED,
				 "%s: '%s' refers to section '%s', but not to a variable in it",
				 part->unit->source, name_of(from), sec->name);
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
	if (def->shndx == SHN_COMMON) {
		ident_of(def)->carried = !ident_of(def)->twin;
		return 0;
	}
	if (sym_is_pointer_for_tables(def))
		return carry(sel, def->sec);
	if (!ident_of(def)->twin || part_of(def->sec)->kind == PART_CONST) {
		struct part *part = part_of(def->sec);

		if (ident_of(def)->twin && !part->reason)
			return 0;
		if (!part->reason)
			part->reason = "new";
		return carry(sel, def->sec);
	}
	return 0;
}

static int follow_references(struct selection *sel, const struct objsec *sec)
{
	const struct part *part = part_of(sec);
	const struct objrel *rel;

	for (struct objsec *note = part->marks; note; note = part_of(note)->next_mark) {
		int rc = carry(sel, note);

		if (rc)
			return rc;
	}
	if (part->lsda) {
		int rc = carry(sel, part->lsda);

		if (!rc && part->personality)
			rc = follow_symbol(sel, part->personality);
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
	struct selection sel = { .diff = diff, .err = err };
	int rc = 0;

	for (size_t i = 0; !rc && i < diff->n; i++) {
		const struct side *post = &diff->units[i].post;

		for (size_t j = 0; !rc && j < post->obj->secs.n; j++) {
			struct objsec *sec = post->obj->secs.items[j];

			if (part_of(sec)->kind == PART_CODE && part_of(sec)->reason)
				rc = carry(&sel, sec);
		}
	}
	/* The list grows while it is read. */
	for (size_t i = 0; !rc && i < sel.todo.n; i++)
		rc = follow_references(&sel, sel.todo.items[i]);
	vec_release(&sel.todo);
	return rc;
}
