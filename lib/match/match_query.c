// SPDX-License-Identifier: GPL-3.0-or-later
// match_query.c - the questions that callers ask when the match is done

#include <string.h>

#include "match/match_internal.h"
#include "update/refname.h"

struct piece *match_piece_named(const struct match *match, const char *refname)
{
	const struct objsym *sym = match_symbol(match, refname);

	if (!sym || !sym->sec || !objsec_is_code(sym->sec) || sym->value != 0)
		return NULL;
	return match->pieces[sym->sec->mark];
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
 * The .cold part that the piece refers to, NULL if it has none. Two statics may share a name, so
 * the name alone won't do.
 */
static struct piece *cold_part(const struct match *match, const struct piece *piece)
{
	const struct objrel *rel;

	vec_for_each (&piece->pub.sec->rels, rel) {
		struct piece *other;

		if (!rel->sym || !rel->sym->sec || rel->sym->sec == piece->pub.sec)
			continue;
		other = match->pieces[rel->sym->sec->mark];
		if (other && is_cold_name(other->pub.name, piece->pub.name))
			return other;
	}
	return NULL;
}

/* Another function of the pre code that was found at the same place; NULL if there is none. */
static const char *folded_piece(const struct match *match, const struct piece *piece)
{
	for (size_t i = 0; i < match->pre->secs.n; i++) {
		const struct piece *other = match->pieces[i];

		if (other && other != piece && other->state == PIECE_MATCHED &&
		    other->pub.addr == piece->pub.addr)
			return refname_symbol(other->pub.name);
	}
	return NULL;
}

/* True if one of the names that the piece has in the pre code is this one, versions aside. */
static bool is_named(const struct match *match, const struct piece *piece, const char *name)
{
	size_t len = strcspn(name, "@");

	for (size_t i = 0; i < match->n_by_name; i++) {
		const struct objsym *sym = match->by_name[i];
		const char *own = refname_symbol(sym->name);

		if (sym->sec == piece->pub.sec && strcspn(own, "@") == len &&
		    !strncmp(own, name, len))
			return true;
	}
	return false;
}

/*
 * A name that the program's symbol table has for the piece's place, and its source doesn't; NULL
 * if there is none, or the code there is an update's.
 */
static const char *folded_symbol(const struct match *match, const struct piece *piece)
{
	const struct image_sym *sym;

	vec_for_each (&match->image->syms, sym)
		if (sym->addr == piece->pub.addr && sym->type == STT_FUNC &&
		    !is_named(match, piece, sym->name))
			return sym->name;
	return NULL;
}

/*
 * A linker that folds functions of equal code (--icf) makes one of two: a jump at its entry would
 * change both.
 */
static int check_folded(const struct match *match, const struct piece *piece, const char *name,
			struct uspl_err *err)
{
	const char *other = folded_piece(match, piece);
	int rc;

	if (!other)
		other = folded_symbol(match, piece);
	if (!other)
		return 0;
	rc = uspl_fail(err, USPL_E_UNSUPPORTED,
		       "'%s' and '%s' are one function in '%s': a change of one would change both",
		       name, other, match->image->name);
	uspl_hint(err, "functions of equal code are folded by the linker's option --icf");
	return rc;
}

int match_require(const struct match *match, const char *refname, const struct match_piece **ret,
		  struct uspl_err *err)
{
	const struct piece *piece = match_piece_named(match, refname), *cold;
	int rc;

	if (!piece)
		return uspl_fail(err, USPL_E_FILE, "'%s' has no function '%s'", match->pre->name,
				 refname);
	if (piece->state != PIECE_MATCHED)
		return match_explain_piece(match, piece, refname_symbol(refname), err);
	cold = cold_part(match, piece);
	if (cold && cold->state != PIECE_MATCHED)
		return match_explain_piece(match, cold, refname_symbol(cold->pub.name), err);
	rc = check_folded(match, piece, refname_symbol(refname), err);
	if (!rc)
		*ret = &piece->pub;
	return rc;
}

void match_count(const struct match *match, struct match_tally *ret)
{
	struct match_tally tally = { 0 };

	for (size_t i = 0; i < match->pre->secs.n; i++) {
		const struct piece *piece = match->pieces[i];

		tally.pieces += piece != NULL;
		if (!piece || piece->state != PIECE_MATCHED)
			continue;
		tally.matched++;
		tally.bytes += piece->pub.len;
	}
	*ret = tally;
}

void match_findings(const struct match *match,
		    void (*visit)(const struct match_finding *finding, void *ctx), void *ctx)
{
	for (size_t i = 0; i < match->pre->secs.n; i++) {
		const struct piece *piece = match->pieces[i];
		struct match_finding finding = { 0 };
		struct uspl_err err = { 0 };
		size_t places;

		if (!piece)
			continue;
		finding.name = piece->pub.name;
		if (piece->state == PIECE_MATCHED) {
			places = code_count_places(match, piece);
			finding.piece = &piece->pub;
			finding.alike = places > 1 ? places - 1 : 0;
		} else if (match_explain_piece(match, piece, refname_symbol(piece->pub.name),
					       &err)) {
			finding.why = err.msg;
		}
		visit(&finding, ctx);
	}
}

void match_pieces_of(const struct match *match, const char *refname,
		     void (*visit)(const struct match_piece *piece, void *ctx), void *ctx)
{
	const struct piece *piece = match_piece_named(match, refname), *cold;

	if (!piece || piece->state != PIECE_MATCHED)
		return;
	visit(&piece->pub, ctx);
	cold = cold_part(match, piece);
	if (cold && cold->state == PIECE_MATCHED)
		visit(&cold->pub, ctx);
}

static bool piece_value(const struct image *image, const struct piece *piece,
			const struct objsym *sym, taddr *ret)
{
	const struct landing *landing;

	if (piece->state == PIECE_MATCHED && sym->value == 0) {
		*ret = image_entry(image, piece->pub.addr);
		return true;
	}
	/* Others may agree about where it is although it wasn't compared, or isn't equal. */
	vec_for_each (&piece->landings, landing)
		if (landing->off == sym->value) {
			*ret = image_entry(image, landing->addr);
			return true;
		}
	return false;
}

bool match_value(const struct match *match, const char *refname, taddr *ret_value)
{
	const struct objsym *sym = match_symbol(match, refname);
	const struct item *item;

	if (!sym)
		return false;
	if (match->addrs[sym->mark].known) {
		*ret_value = match->addrs[sym->mark].addr;
		return true;
	}
	if (match_sym_is_code(sym))
		return piece_value(match->image, match->pieces[sym->sec->mark], sym, ret_value);
	item = sym->sec ? match_item_at(match, sym->sec, (int64_t)sym->value) : NULL;
	if (!item || !item->place.known)
		return false;
	*ret_value = item->place.addr + (sym->value - item->start);
	return true;
}

static bool refers(const struct objsec *sec, const struct objsym *sym)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (rel->sym == sym)
			return true;
	return false;
}

bool match_refers(const struct match *match, const char *refname)
{
	const struct objsym *sym = match_symbol(match, refname);

	for (size_t i = 0; sym && i < match->pre->secs.n; i++) {
		const struct piece *piece = match->pieces[i];

		if (piece && piece->state == PIECE_MATCHED && piece->pub.sec != sym->sec &&
		    refers(piece->pub.sec, sym))
			return true;
	}
	return false;
}

bool match_call(const struct match *match, const char *refname, taddr *ret_value)
{
	const struct objsym *sym = match_symbol(match, refname);

	if (!sym || !match->calls[sym->mark].known)
		return false;
	*ret_value = match->calls[sym->mark].addr;
	return true;
}
