// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nameless_match.c - which type without a name is which of the other build
 *
 * This is asked of a family: for example the lambdas of one function that have one signature. Two
 * things tell which is which, and know nothing of numbers:
 *
 *  - the code: the functions that are made of the type are the same in bytes and references;
 *  - the lines: unchanged lines have the number that they had, lines that take the place of as many
 *    others have theirs, and all other lines have numbers of their own (lines.h).
 *
 *  1. The same code in both builds, and nothing else with that code: a pair, unless the lines say
 *     that another one is meant. Of several with the same code those on one line; then in their
 *     order, since they do the same.
 *  2. Of the others, those that are declared on one line, or have lines of their code in common,
 *     and not with any other.
 *  3. The last one of each build, if both stand in the same order among the others, and the patch
 *     puts the line of one in the place of the other's.
 *
 * One of which nothing is left but tables of data keeps its number. What is then left over in one
 * build only is new, or gone. If it is in both, that is refused. Whether a pair has captured the
 * same is asked when types are compared (types_changed.c).
 */

#include <string.h>

#include "create/unit/equal.h"
#include "create/unit/nameless.h"
#include "create/unit/patched_lines.h"
#include "create/unit/reference.h"
#include "create/unit/srcloc.h"

/* The names of two symbols, their numbers aside. */
static bool same_bare_name(const struct objsym *a, const struct objsym *b)
{
	auto_buf struct buf x = { 0 }, y = { 0 };

	if (!strcmp(a->name, b->name))
		return true;
	nameless_add_bare(a->name, &x);
	nameless_add_bare(b->name, &y);
	if (x.oom || y.oom)
		return false;
	x.len = name_base_len(buf_str(&x));
	y.len = name_base_len(buf_str(&y));
	return x.len == y.len && !memcmp(x.data, y.data, x.len);
}

static bool same_target(const struct objsec *pre, const struct objrel *a, const struct objsec *post,
			const struct objrel *b)
{
	const struct objsec *x = a->sym->sec, *y = b->sym->sec;

	if (a->sym->type != STT_SECTION || b->sym->type != STT_SECTION || !x || !y)
		return a->addend == b->addend && a->sym->type == b->sym->type &&
		       same_bare_name(a->sym, b->sym);
	if (secinfo_of(x)->kind != secinfo_of(y)->kind)
		return false;
	if (secinfo_of(x)->kind == SECINFO_LITERAL)
		return equal_literals(x, reference_target(pre, a), y, reference_target(post, b), 0);
	return a->addend == b->addend;
}

static bool same_section(const struct objsec *pre, const struct objsec *post)
{
	if (pre->rels.n != post->rels.n || !sec_same_bytes(pre, post))
		return false;
	for (size_t i = 0; i < pre->rels.n; i++) {
		const struct objrel *a = &pre->rels.items[i], *b = &post->rels.items[i];

		if (a->offset != b->offset || a->type != b->type || !same_target(pre, a, post, b))
			return false;
	}
	return true;
}

/* Has the type a function like this one, with the same code? */
static bool has_function(const struct nameless_type *type, const struct objsym *like, bool pre)
{
	struct objsym **sym;

	vec_for_each (&type->code, sym)
		if ((*sym)->sec->size == like->sec->size && same_bare_name(*sym, like) &&
		    (pre ? same_section((*sym)->sec, like->sec)
			 : same_section(like->sec, (*sym)->sec)))
			return true;
	return false;
}

static bool same_code(const struct nameless_type *pre, const struct nameless_type *post)
{
	struct objsym **sym;

	if (!pre->code.n || pre->code.n != post->code.n)
		return false;
	vec_for_each (&pre->code, sym)
		if (!has_function(post, *sym, false))
			return false;
	vec_for_each (&post->code, sym)
		if (!has_function(pre, *sym, true))
			return false;
	return true;
}

/* Declared on one line, or with lines of code in common? */
static bool same_lines(const struct nameless_type *pre, const struct nameless_type *post)
{
	size_t i = 0, j = 0;

	if (pre->line && pre->line == post->line)
		return true;
	while (i < pre->own.n && j < post->own.n) {
		if (pre->own.items[i] == post->own.items[j])
			return true;
		if (pre->own.items[i] < post->own.items[j])
			i++;
		else
			j++;
	}
	return false;
}

static bool same_text(const struct nameless_type *pre, const struct nameless_type *post)
{
	return !pre->code.n && !post->code.n && !pre->found && !post->found &&
	       !strcmp(pre->text, post->text);
}

typedef bool (*same_fn)(const struct nameless_type *pre, const struct nameless_type *post);

static void pair(struct nameless_type *pre, struct nameless_type *post)
{
	pre->twin = post;
	post->twin = pre;
}

/* The only one of the list without a twin that is the same as `of`; NULL: none or several. */
static struct nameless_type *only_one(const nameless_vec *list, struct nameless_type *of,
				      bool of_pre, same_fn same)
{
	struct nameless_type *found = NULL, **it;

	vec_for_each (list, it) {
		if ((*it)->twin || !(of_pre ? same(of, *it) : same(*it, of)))
			continue;
		if (found)
			return NULL;
		found = *it;
	}
	return found;
}

/* Do lines say that the type of the build before is another one than this? */
static bool contradicts(const nameless_vec *post, const struct nameless_type *old,
			const struct nameless_type *type)
{
	struct nameless_type **other;

	if (same_lines(old, type))
		return false;
	vec_for_each (post, other)
		if (!(*other)->twin && same_lines(old, *other))
			return true;
	return false;
}

static void add_place(struct side *side, struct nameless_type *type, struct buf *buf)
{
	if (!type->found || !dbginfo_add_srcloc(side->dbg, &type->die, buf))
		buf_addstr(buf, side->source);
}

static int refuse(struct unit *unit, struct nameless_type *old, struct nameless_type *type,
		  struct uspl_err *err)
{
	auto_buf struct buf was = { 0 }, is = { 0 };

	add_place(&unit->pre, old, &was);
	add_place(&unit->post, type, &is);
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "%s: cannot tell whether '%s' is the one that was at %s before the patch, '%s'",
		  buf_str(&is), type->text, buf_str(&was), old->text);
	uspl_hint(err, "what the process has kept of it (a callback, a thread's function) goes on "
		       "with the code of the one that it was; change fewer of them at once, or put "
		       "new ones into a function of their own");
	return -USPL_E_UNSUPPORTED;
}

static void pair_unique(const nameless_vec *pre, const nameless_vec *post, same_fn same)
{
	struct nameless_type **type;

	vec_for_each (post, type) {
		struct nameless_type *old;

		if ((*type)->twin)
			continue;
		old = only_one(pre, *type, false, same);
		if (old && only_one(post, old, true, same) == *type)
			pair(old, *type);
	}
}

static bool same_code_and_line(const struct nameless_type *pre, const struct nameless_type *post)
{
	return pre->line && pre->line == post->line && same_code(pre, post);
}

/* Rule 1, for those whose code is that of one only, or of several that do the same. */
static int pair_by_code(struct unit *unit, const nameless_vec *pre, const nameless_vec *post,
			struct uspl_err *err)
{
	struct nameless_type **type, **old;

	pair_unique(pre, post, same_code_and_line);
	vec_for_each (post, type) {
		vec_for_each (pre, old) {
			if ((*type)->twin || (*old)->twin || !same_code(*old, *type))
				continue;
			if (contradicts(post, *old, *type))
				return refuse(unit, *old, *type, err);
			pair(*old, *type);
		}
	}
	return 0;
}

/* Do two stand in the same order to all pairs? Entries come in the order of the source. */
static bool same_order(const nameless_vec *pre, const struct nameless_type *old,
		       const struct nameless_type *type)
{
	struct nameless_type **other;

	vec_for_each (pre, other) {
		const struct nameless_type *twin = (*other)->twin;

		if (twin && (*other)->found && twin->found && old->found && type->found &&
		    ((*other)->die.addr < old->die.addr) != (twin->die.addr < type->die.addr))
			return false;
	}
	return true;
}

static struct nameless_type *first_loose(const nameless_vec *list, size_t *ret_n)
{
	struct nameless_type *found = NULL, **type;

	*ret_n = 0;
	vec_for_each (list, type) {
		if ((*type)->twin)
			continue;
		found = found ? found : *type;
		++*ret_n;
	}
	return found;
}

/*
 * Does the line belong to code of another one, too? Then it is a template's that both were given
 * to.
 */
static bool is_shared(const nameless_vec *list, const struct nameless_type *of, int line)
{
	struct nameless_type **type;

	vec_for_each (list, type) {
		size_t i = vec_lower_bound(&(*type)->lines, it, *it < line);

		if (*type != of && i < (*type)->lines.n && (*type)->lines.items[i] == line)
			return true;
	}
	return false;
}

static int forget_shared_lines(const nameless_vec *list, struct uspl_err *err)
{
	struct nameless_type **type;

	vec_for_each (list, type) {
		int *line;

		vec_for_each (&(*type)->lines, line) {
			int *slot = is_shared(list, *type, *line) ? NULL : vec_push(&(*type)->own);

			if (!slot && !is_shared(list, *type, *line))
				return uspl_fail_nomem(err);
			if (slot)
				*slot = *line;
		}
	}
	return 0;
}

int nameless_match(struct unit *unit, const nameless_vec *pre, const nameless_vec *post,
		   struct uspl_err *err)
{
	const struct patched_lines *patched = unit->nameless->patched;
	struct nameless_type *old, *type;
	const char *was, *is;
	size_t n_pre, n_post;
	int rc = forget_shared_lines(pre, err);

	if (rc)
		return rc;
	rc = forget_shared_lines(post, err);
	if (rc)
		return rc;
	rc = pair_by_code(unit, pre, post, err);
	if (rc)
		return rc;
	pair_unique(pre, post, same_lines);
	if (pre->n == post->n)
		pair_unique(pre, post, same_text);
	old = first_loose(pre, &n_pre);
	type = first_loose(post, &n_post);
	if (!old || !type)
		return 0;
	was = old->found ? dbginfo_declaring_file(&old->die) : NULL;
	is = type->found ? dbginfo_declaring_file(&type->die) : NULL;
	/* The patch has to change the lines of the two together, one for the other. */
	if (n_pre > 1 || n_post > 1 || !same_order(pre, old, type) || !was || !is ||
	    !patched_lines_together(patched, was, old->line, is, type->line))
		return refuse(unit, old, type, err);
	pair(old, type);
	return 0;
}
