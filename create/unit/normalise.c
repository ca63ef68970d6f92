// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * normalise.c - one form for each kind of reference
 *
 * The assembler turns a reference to a local symbol into one to the symbol's section plus a
 * distance. That is enough for a linker, but not for us: what a reference means must not depend on
 * where in a section that lies. So each reference gets one of two forms:
 *
 *   by symbol    the function as something to call or to point at, a variable with a name. The
 *                name means the same in both builds and in the running program.
 *   by section   a place within code (a jump table's entry, the way to a .cold part and back),
 *                and what has no name: strings, numbers, tables that the compiler made. The code
 *                or the literal itself is meant, wherever it will be.
 *
 * The distance isn't always what it seems. The processor counts a pc-relative displacement from
 * the end of the instruction, so the assembler has taken the bytes between the field and that end
 * (4, or more if an immediate follows) out of the addend: this is the `bias` of a relocation in
 * code, found by decoding the code. With it, `.data.x - 5` is the start of x. In clang's tables
 * of strings each entry counts from the table's start.
 *
 * A library's global function, which another module may stand in for, is meant itself where the
 * reference is by section. Such a reference doesn't lead through a stub, which tells the two apart.
 *
 * A jump table needs care: its entry for the very first instruction of a function looks like a
 * pointer to that function. A pc-relative word in data is never a function pointer in C; and a
 * table of addresses of which others lead into the middle of the same function is a jump table.
 */

#include "create/unit/normalise.h"

#include <string.h>

#include "arch/arch.h"
#include "base/vec.h"
#include "create/unit/literal.h"
#include "create/unit/reference.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

/* Does the instruction at `at` take the address of the section's function, without a relocation? */
static bool takes_own_address(const struct objsec *sec, uint64_t at, const struct insn *insn)
{
	const struct objsym *owner = secinfo_of(sec)->owner;
	int32_t distance;

	if (!owner || !insn->pc_relative_mem || insn->disp_size != sizeof(distance))
		return false;
	memcpy(&distance, sec->data + at + insn->disp_off, sizeof(distance));
	if ((int64_t)(at + insn->len) + distance != (int64_t)owner->value)
		return false;
	for (size_t i = 0; i < sec->rels.n; i++)
		if (sec->rels.items[i].offset == at + insn->disp_off)
			return false;
	return !reference_begins_got(sec, (int64_t)owner->value);
}

/*
 * The assembler needs no relocation for a static function that takes its own address, such as one
 * that registers itself again. But it must be the original's address like any other that is taken,
 * so we put a relocation there. What only leads to the GOT stays as it is: the original's start
 * lies at another distance from it.
 */
static int restore_own_addresses(struct objsec *sec, struct uspl_err *err)
{
	struct insn insn;

	for (uint64_t at = 0; at < sec->size; at += insn.len) {
		struct objrel *rel;

		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) || !insn.len)
			break;
		if (!takes_own_address(sec, at, &insn))
			continue;
		rel = vec_push(&sec->rels);
		if (!rel)
			return uspl_fail_nomem(err);
		rel->offset = at + insn.disp_off;
		rel->type = arch_native()->pcrel_type;
		rel->sym = secinfo_of(sec)->owner;
		rel->addend = insn.disp_off - insn.len;
		memset(sec->data + rel->offset, 0, insn.disp_size);
	}
	objsec_sort_rels(sec);
	return 0;
}

/*
 * Decodes a code section and notes for each relocation how far it lies from its instruction's
 * end.
 */
static int find_biases(struct objsec *sec, struct uspl_err *err)
{
	struct secinfo *secinfo = secinfo_of(sec);
	uint64_t at = 0;
	size_t next = 0;

	secinfo->bias = calloc(sec->rels.n + 1, 1);
	if (!secinfo->bias)
		return uspl_fail_nomem(err);
	while (at < sec->size) {
		struct insn insn;

		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) ||
		    !insn.len) {
			secinfo->opaque = true;
			return 0;
		}
		at += insn.len;
		for (; next < sec->rels.n && sec->rels.items[next].offset < at; next++)
			secinfo->bias[next] = (uint8_t)(at - sec->rels.items[next].offset);
	}
	return 0;
}

/*
 * The function that starts at a place of its section: the section's owner, or another one if
 * several lie in it.
 */
static struct objsym *function_at(const struct side *side, const struct objsec *sec, int64_t at)
{
	const struct secinfo *secinfo = secinfo_of(sec);

	if (secinfo->is_cold)
		return NULL;
	if (secinfo->owner && (int64_t)secinfo->owner->value == at)
		return secinfo->owner;
	for (size_t i = 0; secinfo->shared && i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];

		if (sym->sec == sec && sym_is_function(sym) && (int64_t)sym->value == at)
			return sym;
	}
	return NULL;
}

/*
 * The variable that a place belongs to. One that has its section to itself owns every place, also
 * those before and behind it (`&a[-1]`, an end pointer). Otherwise the one that the place lies
 * in.
 */
static struct objsym *variable_at(const struct side *side, const struct objsec *sec, int64_t at)
{
	const struct secinfo *secinfo = secinfo_of(sec);

	if (secinfo->owner && !secinfo->shared)
		return secinfo->owner;
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];

		if (sym->sec == sec && sym_is_variable(sym) && at >= (int64_t)sym->value &&
		    at < (int64_t)(sym->value + sym->size))
			return sym;
	}
	return NULL;
}

/* Do addresses in this section lead into the middle of code in `code`? */
static bool is_jump_table(const struct side *side, const struct objsec *sec,
			  const struct objsec *code)
{
	const struct objrel *rel;

	if (secinfo_of(sec)->kind != SECINFO_LITERAL)
		return false;
	vec_for_each (&sec->rels, rel)
		if (rel->sym->sec == code && rel->sym->bind == STB_LOCAL &&
		    !function_at(side, code, reference_target(sec, rel)))
			return true;
	return false;
}

/* What a reference to a place within a section means; NULL: the place itself. */
static struct objsym *meant(const struct side *side, const struct objsec *from,
			    const struct objrel *rel)
{
	const struct objsec *sec = rel->sym->sec;
	int64_t at = reference_target(from, rel);

	switch (secinfo_of(sec)->kind) {
	case SECINFO_CODE:
		if (!objsec_is_code(from) &&
		    (reference_is_relative(rel) || is_jump_table(side, from, sec)))
			return NULL;
		return function_at(side, sec, at);
	case SECINFO_DATA:
	case SECINFO_CONST:
	case SECINFO_TLS:
		/* A compiler-made table beside a named one is still a literal. */
		return sym_is_compiler_made(rel->sym) ? NULL : variable_at(side, sec, at);
	default:
		return NULL;
	}
}

static void normalise_reference(const struct side *side, const struct objsec *from,
				struct objrel *rel)
{
	struct objsym *sym;
	enum reloc_kind kind = arch_native()->reloc(rel->type)->kind;

	/*
	 * A global symbol keeps its name. A GOT slot belongs to the symbol as it is. An indirect
	 * function isn't the code that chooses it.
	 */
	if (!rel->sym->sec || rel->sym->bind != STB_LOCAL || rel->sym->type == STT_GNU_IFUNC ||
	    kind == RELOC_GOTPCREL || kind == RELOC_GOTTPOFF || literal_is_left(from, rel))
		return;
	sym = meant(side, from, rel);
	if (!sym)
		sym = rel->sym->sec->secsym;
	if (!sym)
		return;
	rel->addend += (int64_t)rel->sym->value - (int64_t)sym->value;
	rel->sym = sym;
	/* A library's global function by a local name: never by way of a stub. */
	if (kind == RELOC_PLT && sym->bind != STB_LOCAL)
		rel->type = arch_native()->pcrel_type;
}

static bool has_references(const struct objsec *sec)
{
	enum secinfo_kind kind = secinfo_of(sec)->kind;

	return kind != SECINFO_IGNORED && kind != SECINFO_UNWIND && sec->rels.n;
}

static int by_offset(const void *a, const void *b)
{
	const struct literal_use *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Notes at each literal section which places in it are referred to. */
static int note_literal_uses(struct side *side, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *sec = side->obj->secs.items[i];
		const struct objrel *rel;

		if (!has_references(sec))
			continue;
		vec_for_each (&sec->rels, rel) {
			struct literal_use *use;

			if (rel->sym->type != STT_SECTION || !rel->sym->sec)
				continue;
			use = vec_push(&secinfo_of(rel->sym->sec)->uses);
			if (!use)
				return uspl_fail_nomem(err);
			use->offset = (uint64_t)reference_target(sec, rel);
			use->from = sec;
		}
	}
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct secinfo *secinfo = &side->secinfos[i];

		if (secinfo->uses.n)
			qsort(secinfo->uses.items, secinfo->uses.n, sizeof(*secinfo->uses.items),
			      by_offset);
	}
	return 0;
}

/* Does anything refer to a place in [from, to)? */
static bool is_used(const struct secinfo *secinfo, uint64_t from, uint64_t to)
{
	size_t i = vec_lower_bound(&secinfo->uses, it, it->offset < from);

	return i < secinfo->uses.n && secinfo->uses.items[i].offset < to;
}

struct middle {
	struct objrel *rel;
	uint64_t at, begin; /* where it leads, and where the string begins */
};

typedef VEC(struct middle) middle_vec;

/*
 * The references to the middles of strings. Where strings lie among numbers, what looks like text
 * and is referred to by itself isn't a string's beginning.
 */
static int find_middles(struct side *side, middle_vec *ret, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *from = side->obj->secs.items[i];
		struct objrel *rel;

		if (!has_references(from))
			continue;
		vec_for_each (&from->rels, rel) {
			const struct objsec *sec = rel->sym->sec;
			struct middle middle = { .rel = rel }, *place;

			if (rel->sym->type != STT_SECTION || !sec ||
			    secinfo_of(sec)->kind != SECINFO_LITERAL)
				continue;
			middle.at = (uint64_t)reference_target(from, rel);
			middle.begin = literal_begin(sec, middle.at);
			if (middle.begin == middle.at ||
			    (!literal_is_string(sec) &&
			     is_used(secinfo_of(sec), middle.begin, middle.at)))
				continue;
			place = vec_push(ret);
			if (!place)
				return uspl_fail_nomem(err);
			*place = middle;
		}
	}
	return 0;
}

/* These are counted from the strings' beginnings: the code may read backwards. */
static int add_anchors(struct side *side, struct uspl_err *err)
{
	auto_vec middle_vec middles = { 0 };
	struct middle *middle;
	int rc = find_middles(side, &middles, err);

	if (rc)
		return rc;
	vec_for_each (&middles, middle) {
		struct objrel *rel = middle->rel;
		struct objsec *sec = rel->sym->sec;
		struct secinfo *secinfo = secinfo_of(sec);
		const struct syminfo *section = syminfo_of(sec->secsym);
		struct syminfo syminfo = { .unit = section->unit, .side = section->side };
		struct objsym *anchor = objfile_add_symbol(side->obj, "", STT_NOTYPE, STB_LOCAL);

		if (!anchor)
			return uspl_fail_nomem(err);
		/* A symbol for a string's beginning, which references are counted from. */
		anchor->sec = sec;
		anchor->value = middle->begin;
		anchor->priv = objfile_memdup(side->obj, &syminfo, sizeof(syminfo));
		if (!anchor->priv)
			return uspl_fail_nomem(err);
		rel->addend -= (int64_t)middle->begin;
		rel->sym = anchor;
		/* How far a string reaches that linkers merge its end says. */
		for (size_t i = vec_lower_bound(&secinfo->uses, it, it->offset < middle->at);
		     !literal_is_string(anchor->sec) && i < secinfo->uses.n &&
		     secinfo->uses.items[i].offset == middle->at;
		     i++)
			secinfo->uses.items[i].offset = middle->begin;
	}
	return 0;
}

int normalise(struct side *side, struct uspl_err *err)
{
	int rc;

	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *sec = side->obj->secs.items[i];

		if (secinfo_of(sec)->kind == SECINFO_CODE && sec->data) {
			rc = restore_own_addresses(sec, err);
			if (rc)
				return rc;
			rc = find_biases(sec, err);
			if (rc)
				return rc;
		}
	}
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *sec = side->obj->secs.items[i];
		struct objrel *rel;

		if (!has_references(sec))
			continue;
		vec_for_each (&sec->rels, rel)
			normalise_reference(side, sec, rel);
	}
	rc = note_literal_uses(side, err);
	if (rc)
		return rc;
	return add_anchors(side, err);
}
