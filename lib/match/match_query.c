// SPDX-License-Identifier: GPL-3.0-or-later
// match_query.c - the questions that callers ask when the match is done

#include <string.h>

#include "match/match_internal.h"
#include "objfile/refname.h"

struct func *match_func_named(const struct match *match, const char *refname)
{
	const struct objsym *sym = match_symbol(match, refname);

	if (!sym || !sym->sec || !objsec_is_code(sym->sec) || sym->value != 0)
		return NULL;
	return match->funcs[sym->sec->mark];
}

/*
 * True if name is that of a .cold part of parent: "u.c:f" or "f" and "u.c:f.cold" or
 * "u.c:f.cold.12".
 */
static bool is_cold_name(const char *name, const char *parent)
{
	size_t len;

	name = refname_symbol(name);
	parent = refname_symbol(parent);
	len = strlen(parent);
	if (strncmp(name, parent, len) || strncmp(name + len, ".cold", 5))
		return false;
	return name[len + 5] == '\0' || name[len + 5] == '.';
}

/*
 * The .cold part that the func refers to, NULL if it has none. Two statics may share a name, so
 * the name alone won't do.
 */
static struct func *cold_part(const struct match *match, const struct func *func)
{
	const struct objrel *rel;

	vec_for_each (&func->pub.sec->rels, rel) {
		struct func *other;

		if (!rel->sym || !rel->sym->sec || rel->sym->sec == func->pub.sec)
			continue;
		other = match->funcs[rel->sym->sec->mark];
		if (other && is_cold_name(other->pub.name, func->pub.name))
			return other;
	}
	return NULL;
}

/* A name's length without its version, and without what its linker numbered it by. */
static size_t bare_len(const char *name)
{
	size_t len = match_name_len(name), version = strcspn(name, "@");
	const char *number = strstr(name, ".lto_priv.");

	if (number && (size_t)(number - name) < len)
		len = (size_t)(number - name);
	return version < len ? version : len;
}

/*
 * A name that the program's symbol table has for the func's place, and its source doesn't; NULL
 * if there is none, or the code there is an update's.
 */
static const char *folded_symbol(const struct match *match, const struct func *func)
{
	const struct image_sym *sym;

	vec_for_each (&match->image->syms, sym) {
		bool named = false;
		size_t len;

		if (sym->addr != func->pub.addr || sym->type != STT_FUNC)
			continue;
		len = bare_len(sym->name);
		for (size_t i = 0; i < match->n_by_name && !named; i++) {
			const char *own = refname_symbol(match->by_name[i]->name);

			named = match->by_name[i]->sec == func->pub.sec && bare_len(own) == len &&
				!strncmp(own, sym->name, len);
		}
		if (!named)
			return sym->name;
	}
	return NULL;
}

int match_require(const struct match *match, const char *refname, const struct match_func **ret,
		  struct uspl_err *err)
{
	const struct func *func = match_func_named(match, refname), *cold;
	const char *name = refname_symbol(refname), *other;

	if (!func)
		return uspl_fail(err, USPL_E_FILE, "'%s' has no function '%s'", match->pre->name,
				 refname);
	if (func->state != FUNC_MATCHED)
		return match_explain_piece(match, func, name, err);
	cold = cold_part(match, func);
	if (cold && cold->state != FUNC_MATCHED)
		return match_explain_piece(match, cold, refname_symbol(cold->pub.name), err);
	/*
	 * A linker that folds functions of equal code (--icf) makes one of two: a jump at its entry
	 * would change both.
	 */
	other = NULL;
	for (size_t i = 0; i < match->pre->secs.n && !other; i++) {
		const struct func *twin = match->funcs[i];

		if (twin && twin != func && twin->state == FUNC_MATCHED &&
		    twin->pub.addr == func->pub.addr)
			other = refname_symbol(twin->pub.name);
	}
	if (!other)
		other = folded_symbol(match, func);
	if (other) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "'%s' and '%s' are one function in '%s': a change of one would change "
			  "both",
			  name, other, match->image->name);
		uspl_hint(err, "functions of equal code are folded by the linker's option --icf");
		return -USPL_E_UNSUPPORTED;
	}
	*ret = &func->pub;
	return 0;
}

void match_count(const struct match *match, struct match_tally *ret)
{
	struct match_tally tally = { 0 };

	for (size_t i = 0; i < match->pre->secs.n; i++) {
		const struct func *func = match->funcs[i];

		tally.funcs += func != NULL;
		if (!func || func->state != FUNC_MATCHED)
			continue;
		tally.matched++;
		tally.bytes += func->pub.len;
	}
	*ret = tally;
}

void match_findings(const struct match *match,
		    void (*visit)(const struct match_finding *finding, void *ctx), void *ctx)
{
	for (size_t i = 0; i < match->pre->secs.n; i++) {
		const struct func *func = match->funcs[i];
		struct match_finding finding = { 0 };
		struct uspl_err err = { 0 };
		size_t places;

		if (!func)
			continue;
		finding.name = func->pub.name;
		if (func->state == FUNC_MATCHED) {
			places = code_count_places(match, func);
			finding.func = &func->pub;
			finding.alike = places > 1 ? places - 1 : 0;
		} else if (match_explain_piece(match, func, refname_symbol(func->pub.name), &err)) {
			finding.why = err.msg;
		}
		visit(&finding, ctx);
	}
}

void match_funcs_of(const struct match *match, const char *refname,
		    void (*visit)(const struct match_func *func, void *ctx), void *ctx)
{
	const struct func *func = match_func_named(match, refname), *cold;

	if (!func || func->state != FUNC_MATCHED)
		return;
	visit(&func->pub, ctx);
	cold = cold_part(match, func);
	if (cold && cold->state == FUNC_MATCHED)
		visit(&cold->pub, ctx);
}

bool match_value(const struct match *match, const char *refname, taddr *ret_value)
{
	const struct objsym *sym = match_symbol(match, refname);
	const struct ref_hint *ref_hint;
	const struct func *func;
	const struct item *item;

	if (!sym)
		return false;
	if (match->addrs[sym->mark].known) {
		*ret_value = match->addrs[sym->mark].addr;
		return true;
	}
	if (match_sym_is_code(sym)) {
		func = match->funcs[sym->sec->mark];
		if (func->state == FUNC_MATCHED && sym->value == 0) {
			*ret_value = image_entry(match->image, func->pub.addr);
			return true;
		}
		/* Other funcs may agree about where it is, compared and equal or not. */
		vec_for_each (&func->ref_hints, ref_hint)
			if (ref_hint->off == sym->value) {
				*ret_value = image_entry(match->image, ref_hint->addr);
				return true;
			}
		return false;
	}
	item = sym->sec ? match_item_at(match, sym->sec, (int64_t)sym->value) : NULL;
	if (!item || !item->place.known)
		return false;
	*ret_value = item->place.addr + (sym->value - item->start);
	return true;
}

bool match_refers(const struct match *match, const char *refname)
{
	const struct objsym *sym = match_symbol(match, refname);

	for (size_t i = 0; sym && i < match->pre->secs.n; i++) {
		const struct func *func = match->funcs[i];
		const struct objrel *rel;

		if (!func || func->state != FUNC_MATCHED || func->pub.sec == sym->sec)
			continue;
		vec_for_each (&func->pub.sec->rels, rel)
			if (rel->sym == sym)
				return true;
	}
	return false;
}

bool match_call(const struct match *match, const char *refname, taddr *ret_value)
{
	const struct objsym *sym = match_symbol(match, refname);

	const struct place *place;

	if (!sym)
		return false;
	place = match->calls[sym->mark].known ? &match->calls[sym->mark]
					      : &match->targets[sym->mark];
	*ret_value = place->addr;
	return place->known;
}
