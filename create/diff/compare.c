// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * compare.c - which functions and variables differ between the two builds
 *
 * equal.c says when two pieces of code are equal. A changed callee doesn't change its callers: they
 * call it by name. If an inlined function changed, or what a caller may assume of its callee's
 * registers, then the callers' own bytes differ, and they count like any other: nothing that
 * differs is left out as harmless.
 *
 * From there to a fixpoint:
 *  - a function and its .cold part change together;
 *  - a constant table that differs, or that holds places within a changed function (computed
 *    goto), makes all functions that use it changed: the new code gets its own copy of it.
 */

#include "create/diff/compare.h"

#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/vec.h"
#include "create/unit/equal.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

static bool sections_equal(const struct objsec *pre, const struct objsec *post)
{
	struct range a = { pre, 0, pre->size }, b = { post, 0, post->size };

	return equal_ranges(&a, &b, 0);
}

/* The same code, and the same to do when an exception passes it. */
static bool functions_equal(const struct objsec *pre, const struct objsec *post)
{
	const struct objsec *a = secinfo_of(pre)->lsda, *b = secinfo_of(post)->lsda;

	return sections_equal(pre, post) && !a == !b && (!a || sections_equal(a, b));
}

/*
 * How much a name stands for. A name of assembler without .type and .size stands for all up to the
 * next one.
 */
static uint64_t extent(const struct objsym *sym)
{
	const struct side *side = secinfo_of(sym->sec)->side;
	uint64_t end = sym->sec->size;

	if (sym->size || sym->type != STT_NOTYPE)
		return sym->size;
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *next = side->obj->syms.items[i];

		if (next->sec == sym->sec && next->value > sym->value && next->value < end)
			end = next->value;
	}
	return end - sym->value;
}

static bool variables_equal(const struct objsym *pre, const struct objsym *post)
{
	struct range a = { .sec = pre->sec, .at = pre->value };
	struct range b = { .sec = post->sec, .at = post->value };

	if (!pre->sec || !post->sec)
		return pre->size == post->size && !pre->sec == !post->sec;
	a.len = extent(pre);
	b.len = extent(post);
	return a.len == b.len && equal_ranges(&a, &b, 0);
}

static bool mark(struct objsec *sec, const char *reason)
{
	if (!reason)
		return false;
	if (secinfo_of(sec)->reason)
		return false;
	secinfo_of(sec)->reason = reason;
	return true;
}

/* One half changed, appeared or disappeared: so did the whole. */
static bool spread_to_halves(struct unit *unit)
{
	bool more = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);

		if (secinfo->kind != SECINFO_CODE || !secinfo->owner)
			continue;
		if (secinfo->reason && secinfo->other)
			more |= mark(secinfo->other, secinfo->reason);
		if (twin && !secinfo->other != !secinfo_of(twin->sec)->other)
			more |= mark(sec, secinfo->other ? "it now has a .cold part"
							 : "it has no .cold part any more");
	}
	return more;
}

/*
 * Does the table hold places within a function that changes, or the address of a table that does?
 */
static bool leads_to_change(const struct objsec *table)
{
	const struct objrel *rel;

	vec_for_each (&table->rels, rel) {
		const struct secinfo *secinfo = rel->sym->sec ? secinfo_of(rel->sym->sec) : NULL;

		if (secinfo && secinfo->reason &&
		    (secinfo->kind == SECINFO_CONST ||
		     (secinfo->kind == SECINFO_CODE && rel->sym->type == STT_SECTION)))
			return true;
	}
	return false;
}

/* A constant of which new code must have a copy of its own. */
static bool is_new_table(const struct objsym *sym)
{
	const struct objsym *twin = syminfo_of(sym)->twin;

	return sym->bind == STB_LOCAL && sym_is_variable(sym) && sym->sec &&
	       secinfo_of(sym->sec)->kind == SECINFO_CONST && twin && twin->bind == STB_LOCAL &&
	       !secinfo_of(sym->sec)->shared &&
	       (syminfo_of(sym)->changed || leads_to_change(sym->sec));
}

/* All code that refers to the table, directly or through a literal, needs the new one. */
static bool spread_to_users(struct unit *unit, const struct objsym *table, const char *reason)
{
	bool more = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		struct objsec *sec = unit->post.obj->secs.items[i];
		enum secinfo_kind kind = secinfo_of(sec)->kind;
		const struct objrel *rel;

		if (kind != SECINFO_CODE && kind != SECINFO_LITERAL)
			continue;
		vec_for_each (&sec->rels, rel)
			if (rel->sym == table)
				more |= mark(sec, reason);
	}
	return more;
}

static bool spread_to_literal_users(struct unit *unit)
{
	bool more = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if ((secinfo_of(sec)->kind != SECINFO_CODE &&
		     secinfo_of(sec)->kind != SECINFO_LITERAL) ||
		    secinfo_of(sec)->reason)
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct secinfo *literal =
				rel->sym->sec ? secinfo_of(rel->sym->sec) : NULL;

			if (literal && literal->kind == SECINFO_LITERAL && literal->reason)
				more |= mark(sec, literal->reason);
		}
	}
	return more;
}

static bool spread_to_tables(struct unit *unit, struct uspl_err *err, int *rc)
{
	bool more = false;

	for (size_t i = 0; i < unit->post.obj->syms.n && !*rc; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i];
		auto_buf struct buf reason = { 0 };
		auto_free char *name = NULL;
		const char *text;

		if (!is_new_table(sym) || secinfo_of(sym->sec)->reason)
			continue;
		name = demangle_name(sym->name);
		buf_addf(&reason, "uses '%s', which changed", name ? name : sym->name);
		text = objfile_strdup(unit->post.obj, buf_str(&reason));
		if (!text) {
			*rc = uspl_fail_nomem(err);
			break;
		}
		more |= mark(sym->sec, text);
		more |= spread_to_users(unit, sym, text);
	}
	return more | spread_to_literal_users(unit);
}

int compare(struct diff *diff, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < diff->n; i++) {
		const struct objfile *post = diff->units[i].post.obj;

		for (size_t j = 0; j < post->syms.n; j++) {
			struct objsym *sym = post->syms.items[j];
			const struct objsym *twin = syminfo_of(sym)->twin;

			if (!twin)
				continue;
			if (sym_is_function(sym) && !functions_equal(twin->sec, sym->sec))
				mark(sym->sec, "changed");
			else if (sym_is_variable(sym))
				syminfo_of(sym)->changed = !variables_equal(twin, sym);
		}
	}
	for (size_t i = 0; i < diff->n; i++) {
		struct unit *unit = &diff->units[i];
		bool more = true;

		while (more && !rc) {
			more = spread_to_halves(unit);
			more |= spread_to_tables(unit, err, &rc);
		}
	}
	return rc;
}
