// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics.c - pairs variables whose names don't tell who they are
 *
 * A static local of gcc is called "x.3", with a number that counts all of the unit's; one of
 * clang "f.x". A new one in front renumbers the rest, and a wrong pair would make new code use
 * another variable's storage without anybody noticing. So they pair through the functions that
 * use them:
 *
 *  1. The n-th variable "x" that a function uses is the n-th "x" that its twin uses; first
 *     through functions whose bytes are equal, then through the others, where what is already
 *     paired no longer counts. If there are more or fewer than before, a variable is the one with
 *     the same size and initial contents (other contents would be refused anyway), if there is
 *     one; what is left over in both builds is refused.
 *  2. One used by no code (but by other data) keeps its full name.
 *  3. What is then left over in both builds under one name has moved, if everybody who uses the
 *     new one is the twin of a user of the old one, or new and called by such a twin. It is new,
 *     if all functions that used the old one are still there and no longer do. Anything else
 *     can't be told, and is refused.
 */

#include <string.h>

#include "create/differ.h"

typedef VEC(struct objsym *) sym_vec;

/* The name in the source: "x.3" and "f.x" -> "x". Returns its length. */
static size_t source_name(const struct objsym *sym, const char **ret_start)
{
	size_t len = name_base_len(sym->name), start = len;

	while (start && sym->name[start - 1] != '.')
		start--;
	*ret_start = sym->name + start;
	return len - start;
}

static bool same_source_name(const struct objsym *a, const struct objsym *b)
{
	const char *x, *y;
	size_t len = source_name(a, &x);

	return source_name(b, &y) == len && !memcmp(x, y, len);
}

static bool is_loose(const struct objsym *sym)
{
	return sym->bind == STB_LOCAL && sym_is_variable(sym) && !ident_of(sym)->twin;
}

static bool refers_to(const struct objsec *sec, const struct objsym *sym)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (rel->sym == sym)
			return true;
	return false;
}

/* The function that a section with code belongs to, NULL for other sections. */
static struct objsym *function_of(const struct objsec *sec)
{
	const struct part *part = part_of(sec);

	if (part->kind != PART_CODE)
		return NULL;
	return part->is_cold && part->other ? part_of(part->other)->owner : part->owner;
}

static bool used_by_code(const struct side *side, const struct objsym *sym)
{
	for (size_t i = 0; i < side->obj->secs.n; i++)
		if (function_of(side->obj->secs.items[i]) &&
		    refers_to(side->obj->secs.items[i], sym))
			return true;
	return false;
}

static bool add_once(sym_vec *syms, struct objsym *sym)
{
	struct objsym **slot;

	for (size_t i = 0; i < syms->n; i++)
		if (syms->items[i] == sym)
			return true;
	slot = vec_push(syms);
	if (slot)
		*slot = sym;
	return slot != NULL;
}

/*
 * The loose variables that a function and its .cold part use, in order of first use; of one
 * source name, if `like` is given.
 */
static bool collect_loose(const struct objsec *code, const struct objsym *like, sym_vec *ret)
{
	const struct objsec *halves[2] = { code, part_of(code)->other };

	for (size_t i = 0; i < ARRAY_SIZE(halves); i++) {
		const struct objrel *rel;

		if (!halves[i])
			continue;
		vec_for_each (&halves[i]->rels, rel)
			if (is_loose(rel->sym) && (!like || same_source_name(rel->sym, like)) &&
			    !add_once(ret, rel->sym))
				return false;
	}
	return true;
}

static int refuse(const struct unit *unit, const struct objsym *var, const char *why,
		  const struct objsym *function, struct uspl_err *err)
{
	const char *name;
	int len = (int)source_name(var, &name);
	int rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			   "%s: cannot tell which static variable '%.*s' is which: %s '%s'",
			   unit->source, len, name, why, function ? function->name : "?");

	uspl_hint(err, "give the variables different names, one of them a new one");
	return rc;
}

static bool same_start(const struct objsym *a, const struct objsym *b)
{
	const uint8_t *x = a->sec ? a->sec->data : NULL, *y = b->sec ? b->sec->data : NULL;

	if (!sym_same_sort(a, b) || a->size != b->size || !x != !y)
		return false;
	return !x || !memcmp(x + a->value, y + b->value, a->size);
}

/* The only one of syms that starts as sym does; NULL if there is none or more. */
static struct objsym *only_like(const sym_vec *syms, const struct objsym *sym)
{
	struct objsym *found = NULL;

	for (size_t i = 0; i < syms->n; i++) {
		if (!same_start(syms->items[i], sym))
			continue;
		if (found)
			return NULL;
		found = syms->items[i];
	}
	return found;
}

/* Pairs what starts alike. True if nothing is left over in one of the builds. */
static bool pair_by_start(const sym_vec *pre, const sym_vec *post)
{
	size_t paired = 0;

	for (size_t i = 0; i < post->n; i++) {
		struct objsym *old = only_like(pre, post->items[i]);

		if (!old || only_like(post, old) != post->items[i])
			continue;
		sym_pair(old, post->items[i]);
		paired++;
	}
	return paired == pre->n || paired == post->n;
}

/* Rule 1 for one function and one source name. */
static int pair_in_function(struct unit *unit, const struct objsym *function,
			    const struct objsym *like, struct uspl_err *err)
{
	sym_vec pre = { 0 }, post = { 0 };
	int rc = 0;

	if (!collect_loose(ident_of(function)->twin->sec, like, &pre) ||
	    !collect_loose(function->sec, like, &post))
		rc = uspl_fail_nomem(err);
	else if (pre.n != post.n && pre.n && post.n && !pair_by_start(&pre, &post))
		rc = refuse(unit, like, "there are more or fewer than before in", function, err);
	for (size_t i = 0; !rc && pre.n == post.n && i < post.n; i++)
		if (sym_same_sort(pre.items[i], post.items[i]))
			sym_pair(pre.items[i], post.items[i]);
	vec_release(&pre);
	vec_release(&post);
	return rc;
}

static int pair_by_function(struct unit *unit, const struct objsym *function, struct uspl_err *err)
{
	sym_vec loose = { 0 };
	int rc = collect_loose(function->sec, NULL, &loose) ? 0 : uspl_fail_nomem(err);

	for (size_t i = 0; !rc && i < loose.n; i++)
		if (is_loose(loose.items[i]))
			rc = pair_in_function(unit, function, loose.items[i], err);
	vec_release(&loose);
	return rc;
}

static bool equal_bytes(const struct objsec *a, const struct objsec *b)
{
	return a->size == b->size && a->data && b->data && !memcmp(a->data, b->data, a->size);
}

static int pair_by_functions(struct unit *unit, bool equal, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *twin = ident_of(sym)->twin;
		int rc;

		if (!twin || !sym_is_function(sym) || part_of(sym->sec)->is_cold ||
		    part_of(sym->sec)->shared || equal_bytes(twin->sec, sym->sec) != equal)
			continue;
		rc = pair_by_function(unit, sym, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Rule 2. */
static void pair_unused(struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i], *old;

		if (!is_loose(sym) || used_by_code(&unit->post, sym))
			continue;
		old = objfile_symbol(unit->pre.obj, sym->name);
		if (old && is_loose(old) && sym_same_sort(old, sym) &&
		    !used_by_code(&unit->pre, old))
			sym_pair(old, sym);
	}
}

/*
 * Is `function` (of the post build) new, and does the twin of somebody who used `old` refer to
 * it?
 */
static bool called_by_user(const struct unit *unit, const struct objsym *function,
			   const struct objsym *old)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objsym *caller = function_of(sec), *twin;

		twin = caller ? ident_of(caller)->twin : NULL;
		if (twin && refers_to(sec, function) && refers_to(twin->sec, old))
			return true;
	}
	return false;
}

static bool has_moved(const struct unit *unit, const struct objsym *old, const struct objsym *sym)
{
	bool used = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objsym *user = function_of(sec), *twin;

		if (!user || !refers_to(sec, sym))
			continue;
		used = true;
		twin = ident_of(user)->twin;
		if (twin ? !refers_to(twin->sec, old) : !called_by_user(unit, user, old))
			return false;
	}
	return used && old->size == sym->size;
}

/* A function that used `old` and doesn't exist any more. */
static const struct objsym *lost_user(const struct unit *unit, const struct objsym *old)
{
	for (size_t i = 0; i < unit->pre.obj->secs.n; i++) {
		const struct objsec *sec = unit->pre.obj->secs.items[i];
		const struct objsym *user = function_of(sec);

		if (user && !ident_of(user)->twin && refers_to(sec, old))
			return user;
	}
	return NULL;
}

/* Rule 3 for one variable of the post build. */
static int pair_moved(struct unit *unit, struct objsym *sym, struct uspl_err *err)
{
	struct objsym *found = NULL;
	const struct objsym *lost = NULL;

	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		struct objsym *old = unit->pre.obj->syms.items[i];

		if (!is_loose(old) || !same_source_name(old, sym) || !sym_same_sort(old, sym))
			continue;
		if (!lost)
			lost = lost_user(unit, old);
		if (!has_moved(unit, old, sym))
			continue;
		if (found)
			return refuse(unit, sym, "several could have moved; the first is", found,
				      err);
		found = old;
	}
	if (!found && lost)
		return refuse(unit, sym, "one was used in a function that is gone,", lost, err);
	if (found)
		sym_pair(found, sym);
	return 0;
}

int pair_statics(struct unit *unit, struct uspl_err *err)
{
	int rc = pair_by_functions(unit, true, err);

	if (!rc)
		rc = pair_by_functions(unit, false, err);
	if (rc)
		return rc;
	pair_unused(unit);
	for (size_t i = 0; !rc && i < unit->post.obj->syms.n; i++)
		if (is_loose(unit->post.obj->syms.items[i]))
			rc = pair_moved(unit, unit->post.obj->syms.items[i], err);
	return rc;
}
