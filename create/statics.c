// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics.c - pairs variables whose names don't tell who they are
 *
 * A static local of gcc is called "x.3", with a number that counts all of the unit's; one of
 * clang "f.x". A new one in front renumbers the rest, and a wrong pair would make new code use
 * another variable's storage without anybody noticing. So they pair through the functions that
 * use them:
 *
 *  1. Several of one name go by the functions in which they are declared, as the debugging
 *     information has it (statics_scope.c).
 *  2. The n-th variable "x" that a function uses is the n-th "x" that its twin uses, if the two
 *     are equal in their bytes. In others, where what is already paired no longer counts, there
 *     must be one, or they must be told apart by size and initial contents (others would be
 *     refused anyway) or by what the code does with them; what stays open is refused.
 *  3. One used by no code (but by other data) keeps its full name.
 *  4. What is then left over in both builds under one name has moved, if everybody who uses the
 *     new one is the twin of a user of the old one, or new and called by such a twin. It is new,
 *     if all functions that used the old one are still there and no longer do. Anything else
 *     can't be told, and is refused.
 *
 * Constants are never refused: of those that are alike any will do, and others are new ones.
 */

#include <ctype.h>
#include <string.h>

#include "create/differ.h"
#include "create/place.h"
#include "create/statics.h"

/* The name in the source: "x.3" and "f.x" -> "x". Returns its length. */
static size_t source_name(const struct objsym *sym, const char **ret_start)
{
	size_t len = name_base_len(sym->name), start = len;

	while (start && sym->name[start - 1] != '.')
		start--;
	/* "hits_1": somebody counted. */
	while (ident_of(sym)->counted && isdigit((unsigned char)sym->name[len - 1]))
		len--;
	*ret_start = sym->name + start;
	return len - start;
}

void static_add_name(const struct objsym *sym, struct buf *buf)
{
	const char *name;
	size_t len = source_name(sym, &name);

	buf_add(buf, name, len);
}

bool static_same_name(const struct objsym *a, const struct objsym *b)
{
	const char *x, *y;
	size_t len = source_name(a, &x);

	return source_name(b, &y) == len && !memcmp(x, y, len);
}

bool static_is_loose(const struct objsym *sym)
{
	return sym->bind == STB_LOCAL && sym_is_variable(sym) && !ident_of(sym)->twin;
}

struct objsym *static_user(const struct objsec *sec)
{
	const struct part *part = part_of(sec);

	if (part->kind != PART_CODE)
		return NULL;
	return part->is_cold && part->other ? part_of(part->other)->owner : part->owner;
}

static bool used_by_code(const struct side *side, const struct objsym *sym)
{
	for (size_t i = 0; i < side->obj->secs.n; i++)
		if (static_user(side->obj->secs.items[i]) &&
		    sec_refers_to(side->obj->secs.items[i], sym))
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
			if (static_is_loose(rel->sym) &&
			    (!like || static_same_name(rel->sym, like)) && !add_once(ret, rel->sym))
				return false;
	}
	return true;
}

int statics_refuse(const struct objsym *var, const char *why, const char *function,
		   struct uspl_err *err)
{
	const char *name;
	int len = (int)source_name(var, &name);
	int rc = sym_refuse(var, err, USPL_E_UNSUPPORTED,
			    "cannot tell which static variable '%.*s' is which: %s '%s'", len, name,
			    why, function);

	uspl_hint(err, "give the variables different names, one of them a new one");
	return rc;
}

bool static_alike(const struct objsym *pre, const struct objsym *post)
{
	struct range a = { pre->sec, pre->value, pre->size },
		     b = { post->sec, post->value, post->size };

	return sym_same_sort(pre, post) && pre->sec && post->sec && range_equal(&a, &b, 0);
}

bool static_is_constant(const struct objsym *sym)
{
	return sym->sec && part_of(sym->sec)->kind == PART_CONST;
}

static bool alike_in_use(const struct objsym *pre, const struct objsym *post)
{
	return static_alike(pre, post) && static_same_use(pre, post);
}

typedef bool (*same_fn)(const struct objsym *pre, const struct objsym *post);

/* Pairs what only one of the other build is the same as. */
static void pair_unique(const sym_vec *pre, const sym_vec *post, same_fn same)
{
	for (size_t i = 0; i < post->n; i++) {
		struct objsym *sym = post->items[i], *old = NULL;
		size_t n = 0, back = 0;

		for (size_t j = 0; static_is_loose(sym) && j < pre->n; j++) {
			if (!static_is_loose(pre->items[j]) || !same(pre->items[j], sym))
				continue;
			old = pre->items[j];
			n++;
		}
		for (size_t j = 0; n == 1 && j < post->n; j++)
			back += static_is_loose(post->items[j]) && same(old, post->items[j]);
		if (n == 1 && back == 1)
			sym_pair(old, sym);
	}
}

/* Pairs constants that are alike, in their order. */
static void pair_constants(const sym_vec *pre, const sym_vec *post)
{
	for (size_t i = 0; i < post->n; i++)
		for (size_t j = 0; j < pre->n && static_is_loose(post->items[i]); j++)
			if (static_is_constant(post->items[i]) && static_is_loose(pre->items[j]) &&
			    static_alike(pre->items[j], post->items[i]))
				sym_pair(pre->items[j], post->items[i]);
}

/* How many have no twin, and how many of these may be written; *ret_last is the last of them. */
static size_t count_loose(const sym_vec *syms, size_t *ret_writable, struct objsym **ret_last)
{
	size_t n = 0;

	*ret_writable = 0;
	for (size_t i = 0; i < syms->n; i++) {
		if (!static_is_loose(syms->items[i]))
			continue;
		*ret_last = syms->items[i];
		*ret_writable += !static_is_constant(syms->items[i]);
		n++;
	}
	return n;
}

bool statics_settle(const sym_vec *pre, const sym_vec *post)
{
	struct objsym *old, *sym;
	size_t n_pre, n_post, writable_pre, writable_post;

	pair_unique(pre, post, static_alike);
	pair_unique(pre, post, alike_in_use);
	pair_constants(pre, post);
	n_pre = count_loose(pre, &writable_pre, &old);
	n_post = count_loose(post, &writable_post, &sym);
	if (n_pre == 1 && n_post == 1 && sym_same_sort(old, sym))
		sym_pair(old, sym);
	else if (n_pre && n_post && writable_pre + writable_post)
		return false;
	return true;
}

/* Rule 2 for one function and one source name. */
static int pair_in_function(const struct objsym *function, const struct objsym *like, bool equal,
			    struct uspl_err *err)
{
	auto_syms sym_vec pre = { 0 }, post = { 0 };

	if (!collect_loose(ident_of(function)->twin->sec, like, &pre) ||
	    !collect_loose(function->sec, like, &post))
		return uspl_fail_nomem(err);
	for (size_t i = 0; equal && pre.n == post.n && i < post.n; i++)
		if (sym_same_sort(pre.items[i], post.items[i]))
			sym_pair(pre.items[i], post.items[i]);
	if (statics_settle(&pre, &post))
		return 0;
	return statics_refuse(like,
			      pre.n == post.n ? "several of that name change in"
					      : "there are more or fewer than before in",
			      function->name, err);
}

static int pair_by_function(const struct objsym *function, bool equal, struct uspl_err *err)
{
	auto_syms sym_vec loose = { 0 };
	int rc = collect_loose(function->sec, NULL, &loose) ? 0 : uspl_fail_nomem(err);

	for (size_t i = 0; !rc && i < loose.n; i++)
		if (static_is_loose(loose.items[i]))
			rc = pair_in_function(function, loose.items[i], equal, err);
	return rc;
}

static int pair_by_functions(struct unit *unit, bool equal, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *twin = ident_of(sym)->twin;
		int rc;

		if (!twin || !sym_is_function(sym) || part_of(sym->sec)->is_cold ||
		    part_of(sym->sec)->shared || sec_same_bytes(twin->sec, sym->sec) != equal)
			continue;
		rc = pair_by_function(sym, equal, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Rule 3. */
static void pair_unused(struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i], *old;

		if (!static_is_loose(sym) || used_by_code(&unit->post, sym))
			continue;
		old = objfile_symbol(unit->pre.obj, sym->name);
		if (old && static_is_loose(old) && sym_same_sort(old, sym) &&
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
		const struct objsym *caller = static_user(sec), *twin;

		twin = caller ? ident_of(caller)->twin : NULL;
		if (twin && sec_refers_to(sec, function) && sec_refers_to(twin->sec, old))
			return true;
	}
	return false;
}

static bool has_moved(const struct unit *unit, const struct objsym *old, const struct objsym *sym)
{
	bool used = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objsym *user = static_user(sec), *twin;

		if (!user || !sec_refers_to(sec, sym))
			continue;
		used = true;
		twin = ident_of(user)->twin;
		if (twin ? !sec_refers_to(twin->sec, old) : !called_by_user(unit, user, old))
			return false;
	}
	return used && old->size == sym->size;
}

/* A function that used `old` and doesn't exist any more. */
static const struct objsym *lost_user(const struct unit *unit, const struct objsym *old)
{
	for (size_t i = 0; i < unit->pre.obj->secs.n; i++) {
		const struct objsec *sec = unit->pre.obj->secs.items[i];
		const struct objsym *user = static_user(sec);

		if (user && !ident_of(user)->twin && sec_refers_to(sec, old))
			return user;
	}
	return NULL;
}

/* Rule 4 for one variable of the post build. */
static int pair_moved(struct unit *unit, struct objsym *sym, struct uspl_err *err)
{
	struct objsym *found = NULL;
	const struct objsym *lost = NULL;

	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		struct objsym *old = unit->pre.obj->syms.items[i];

		if (!static_is_loose(old) || !static_same_name(old, sym) ||
		    !sym_same_sort(old, sym))
			continue;
		if (!lost)
			lost = lost_user(unit, old);
		if (!has_moved(unit, old, sym))
			continue;
		if (found && !static_is_constant(sym))
			return statics_refuse(sym, "several could have moved; the first is",
					      found->name, err);
		if (!found || static_alike(old, sym))
			found = old;
	}
	if (!found && lost && !static_is_constant(sym))
		return statics_refuse(sym, "one was used in a function that is gone,", lost->name,
				      err);
	if (found)
		sym_pair(found, sym);
	return 0;
}

int pair_statics(struct unit *unit, struct uspl_err *err)
{
	int rc = statics_pair_scopes(unit, err);

	if (!rc)
		rc = pair_by_functions(unit, true, err);
	if (!rc)
		rc = pair_by_functions(unit, false, err);
	if (rc)
		return rc;
	pair_unused(unit);
	for (size_t i = 0; !rc && i < unit->post.obj->syms.n; i++)
		if (static_is_loose(unit->post.obj->syms.items[i]))
			rc = pair_moved(unit, unit->post.obj->syms.items[i], err);
	return rc;
}
