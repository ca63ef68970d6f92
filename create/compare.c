// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * compare.c - which functions and variables differ between the two builds
 *
 * Two pieces of code are equal if their bytes are and each reference of one means what the
 * other's does: a named symbol with the same refname and distance, a place at the same distance
 * in code that is paired, or a literal with the same contents. That a callee changed doesn't
 * change its callers: they call it by name. If an inlined function changed, or what a caller may
 * assume of its callee's registers, then the callers' own bytes differ, and they count like any
 * other: nothing that differs is left out as harmless.
 *
 * From there to a fixpoint:
 *  - a function and its .cold part change together;
 *  - a constant table that differs, or that holds places within a changed function (computed
 *    goto), makes all functions that use it changed: the new code gets its own copy of it.
 */

#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "create/differ.h"

static bool is_section(const struct objsym *sym)
{
	return sym->type == STT_SECTION && sym->sec;
}

/* Are two sections with code each other's twins? */
static bool same_code(const struct objsec *pre, const struct objsec *post)
{
	const struct objsym *owner = part_of(pre)->owner;

	if (!owner || !part_of(post)->owner)
		return !owner && !part_of(post)->owner && !strcmp(pre->name, post->name);
	return ident_of(part_of(post)->owner)->twin == owner;
}

static bool place_equal(const struct range *pre, const struct objrel *a, const struct range *post,
			const struct objrel *b, int depth)
{
	const struct objsec *x = a->sym->sec, *y = b->sym->sec;

	if (part_of(x)->kind != part_of(y)->kind)
		return false;
	if (part_of(x)->kind == PART_LITERAL)
		return literal_equal(x, reference_target(pre->sec, a), y,
				     reference_target(post->sec, b), depth);
	if (part_of(x)->kind == PART_CODE)
		return a->addend == b->addend && same_code(x, y);
	return a->addend == b->addend && !strcmp(x->name, y->name);
}

static bool reference_equal(const struct range *pre, const struct objrel *a,
			    const struct range *post, const struct objrel *b, int depth)
{
	const char *x = ident_of(a->sym)->refname, *y = ident_of(b->sym)->refname;

	if (a->offset - pre->at != b->offset - post->at || a->type != b->type)
		return false;
	if (x && y)
		return a->addend == b->addend && !strcmp(x, y);
	if (literal_is_anchor(a->sym) && literal_is_anchor(b->sym))
		return a->addend == b->addend &&
		       literal_equal(a->sym->sec, (int64_t)a->sym->value, b->sym->sec,
				     (int64_t)b->sym->value, depth);
	return is_section(a->sym) && is_section(b->sym) && place_equal(pre, a, post, b, depth);
}

static size_t first_reference(const struct range *range)
{
	size_t low = 0, high = range->sec->rels.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (range->sec->rels.items[mid].offset < range->at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The relocation of that index if it lies in the range, else NULL. */
static const struct objrel *reference_in(const struct range *range, size_t i)
{
	if (i >= range->sec->rels.n || range->sec->rels.items[i].offset >= range->at + range->len)
		return NULL;
	return &range->sec->rels.items[i];
}

bool range_equal(const struct range *pre, const struct range *post, int depth)
{
	size_t i = first_reference(pre), j = first_reference(post);

	if (pre->len != post->len || pre->at + pre->len > pre->sec->size ||
	    post->at + post->len > post->sec->size || !pre->sec->data != !post->sec->data)
		return false;
	/* The fields that relocations fill are zero in an object with addends. */
	if (pre->sec->data &&
	    memcmp(pre->sec->data + pre->at, post->sec->data + post->at, pre->len))
		return false;
	for (;; i++, j++) {
		const struct objrel *a = reference_in(pre, i), *b = reference_in(post, j);

		if (!a || !b)
			return !a && !b;
		if (!reference_equal(pre, a, post, b, depth))
			return false;
	}
}

uint64_t range_first_difference(const struct range *pre, const struct range *post)
{
	size_t i = first_reference(pre), j = first_reference(post);
	uint64_t at = 0, len = pre->len < post->len ? pre->len : post->len;

	while (at < len && pre->sec->data && post->sec->data &&
	       pre->sec->data[pre->at + at] == post->sec->data[post->at + at])
		at++;
	for (;; i++, j++) {
		const struct objrel *a = reference_in(pre, i), *b = reference_in(post, j);
		uint64_t first = at;

		if (a && b && reference_equal(pre, a, post, b, 0))
			continue;
		if (a && a->offset - pre->at < first)
			first = a->offset - pre->at;
		if (b && b->offset - post->at < first)
			first = b->offset - post->at;
		return first;
	}
}

static bool sections_equal(const struct objsec *pre, const struct objsec *post)
{
	struct range a = { pre, 0, pre->size }, b = { post, 0, post->size };

	return range_equal(&a, &b, 0);
}

/* The same code, and the same to do when an exception passes it. */
static bool functions_equal(const struct objsec *pre, const struct objsec *post)
{
	const struct objsec *a = part_of(pre)->lsda, *b = part_of(post)->lsda;

	return sections_equal(pre, post) && !a == !b && (!a || sections_equal(a, b));
}

static bool variables_equal(const struct objsym *pre, const struct objsym *post)
{
	struct range a = { pre->sec, pre->value, pre->size },
		     b = { post->sec, post->value, post->size };

	if (pre->size != post->size || !pre->sec != !post->sec)
		return false;
	return !pre->sec || range_equal(&a, &b, 0);
}

static bool mark(struct objsec *sec, const char *reason)
{
	if (!reason)
		return false;
	if (part_of(sec)->reason)
		return false;
	part_of(sec)->reason = reason;
	return true;
}

static void compare_symbols(struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *twin = ident_of(sym)->twin;

		if (!twin)
			continue;
		if (sym_is_function(sym) && !functions_equal(twin->sec, sym->sec))
			mark(sym->sec, "changed");
		else if (sym_is_variable(sym))
			ident_of(sym)->changed = !variables_equal(twin, sym);
	}
}

/* One half changed, appeared or disappeared: so did the whole. */
static bool spread_to_halves(struct unit *unit)
{
	bool more = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		struct objsec *sec = unit->post.obj->secs.items[i];
		const struct part *part = part_of(sec);
		const struct objsym *twin = part->owner ? ident_of(part->owner)->twin : NULL;

		if (part->kind != PART_CODE || !part->owner)
			continue;
		if (part->reason && part->other)
			more |= mark(part->other, part->reason);
		if (twin && !part->other != !part_of(twin->sec)->other)
			more |= mark(sec, part->other ? "it now has a .cold part"
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
		const struct part *part = rel->sym->sec ? part_of(rel->sym->sec) : NULL;

		if (part && part->reason &&
		    (part->kind == PART_CONST || (part->kind == PART_CODE && is_section(rel->sym))))
			return true;
	}
	return false;
}

/* A constant that new code must have a copy of its own of. */
static bool is_new_table(const struct objsym *sym)
{
	const struct objsym *twin = ident_of(sym)->twin;

	return sym->bind == STB_LOCAL && sym_is_variable(sym) && sym->sec &&
	       part_of(sym->sec)->kind == PART_CONST && twin && twin->bind == STB_LOCAL &&
	       !part_of(sym->sec)->shared && (ident_of(sym)->changed || leads_to_change(sym->sec));
}

/* All code that refers to the table, directly or through a literal, needs the new one. */
static bool spread_to_users(struct unit *unit, const struct objsym *table, const char *reason)
{
	bool more = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		struct objsec *sec = unit->post.obj->secs.items[i];
		enum part_kind kind = part_of(sec)->kind;
		const struct objrel *rel;

		if (kind != PART_CODE && kind != PART_LITERAL)
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

		if ((part_of(sec)->kind != PART_CODE && part_of(sec)->kind != PART_LITERAL) ||
		    part_of(sec)->reason)
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct part *literal =
				is_section(rel->sym) ? part_of(rel->sym->sec) : NULL;

			if (literal && literal->kind == PART_LITERAL && literal->reason)
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

		if (!is_new_table(sym) || part_of(sym->sec)->reason)
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

	for (size_t i = 0; i < diff->n; i++)
		compare_symbols(&diff->units[i]);
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
