// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * functions_split.c - functions that lie in one section of an object get sections of their own
 *
 * What the assembler knows within a section leaves no relocation: a call from one function to
 * another is a mere distance. So the code is decoded, and such a distance becomes a relocation
 * again. A section is split only if all of this is certain:
 *
 *   - its bytes are instructions, and between the functions there are only NOPs (or int3);
 *   - no function goes on in the one behind it: each ends with a jump, a return or a trap;
 *   - a branch out of a function leads to where one begins, and has room for any distance, or is a
 *     short jump at the function's end, as gcc's thunks have it: that is made a long one;
 *   - what else refers to the section says which place it means, in a way that is understood.
 *
 * A function is a symbol of that type, or a global label without a type, as hand-written assembler
 * has them. A local label is a place in the function before it.
 */

#include "create/unit/functions_split.h"

#include <string.h>

#include "arch/arch.h"
#include "create/unit/reference.h"

/* A function to be: the bytes [start, end) of the section, padding left out. */
struct piece {
	uint64_t start, end;
	struct objsym *sym; /* the first of its names that was met */
	struct objsec *sec; /* its new section */
	uint8_t grows;      /* by so much, as the jump at its end is made a long one */
};

typedef VEC(struct piece) piece_vec;

/* A distance without a relocation that leads to another function. */
struct crossing {
	size_t from, to; /* pieces */
	uint64_t offset; /* of the field in the section */
	uint8_t behind;  /* bytes from the field to the end of its instruction */
	bool is_short;   /* a jump of two bytes */
};

struct split {
	struct objfile *obj;
	struct objsec *sec;
	piece_vec pieces;
	VEC(struct crossing) crossings;
	bool oom;
};

static void split_release(struct split *split)
{
	vec_release(&split->pieces);
	vec_release(&split->crossings);
}
DEFINE_AUTO_RELEASE(split, struct split, split_release)
#define auto_split __attribute__((cleanup(cleanup_split_)))

static bool begins_function(const struct objsym *sym, const struct objsec *sec)
{
	if (sym->sec != sec || sym->value >= sec->size)
		return false;
	return sym->type == STT_FUNC ||
	       (sym->type == STT_NOTYPE && sym->bind != STB_LOCAL && *sym->name);
}

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The functions in their order, each up to the next one. False: nothing to split. */
static bool find_pieces(struct split *split)
{
	size_t n = 0;

	for (size_t i = 0; i < split->obj->syms.n; i++) {
		struct objsym *sym = split->obj->syms.items[i];
		struct piece *piece;

		/* The resolver of an indirect function chooses; data among code is no code. */
		if (sym->sec == split->sec &&
		    (sym->type == STT_GNU_IFUNC || sym->type == STT_OBJECT))
			return false;
		if (!begins_function(sym, split->sec))
			continue;
		piece = vec_push(&split->pieces);
		if (!piece) {
			split->oom = true;
			return false;
		}
		*piece = (struct piece){ .start = sym->value, .sym = sym };
	}
	if (!split->pieces.n)
		return false;
	qsort(split->pieces.items, split->pieces.n, sizeof(*split->pieces.items), by_start);
	for (size_t i = 1; i < split->pieces.n; i++)
		if (split->pieces.items[i].start != split->pieces.items[n].start)
			split->pieces.items[++n] = split->pieces.items[i];
	split->pieces.n = n + 1;
	for (size_t i = 0; i <= n; i++)
		split->pieces.items[i].end =
			i < n ? split->pieces.items[i + 1].start : split->sec->size;
	/* One whose type is said, and that has the section to itself, is as it should be. */
	return n || split->pieces.items[0].sym->type != STT_FUNC;
}

/* The piece that a place is in, or at whose end it is. */
static size_t piece_at(const struct split *split, uint64_t place)
{
	size_t i = 0;

	while (i + 1 < split->pieces.n && split->pieces.items[i + 1].start <= place)
		i++;
	return i;
}

/* A distance that the assembler has filled in: it may lead to another function's beginning. */
static bool take_distance(struct split *split, size_t from, uint64_t at, const struct insn *insn)
{
	const struct piece *piece = &split->pieces.items[from];
	uint8_t off = insn->pc_relative_mem ? insn->disp_off : insn->rel_off;
	uint8_t size = insn->pc_relative_mem ? insn->disp_size : insn->rel_size;
	struct crossing *crossing;
	int64_t distance = insn->rel;
	bool is_short;
	uint64_t to;

	if (insn->pc_relative_mem && size == sizeof(int32_t)) {
		int32_t disp;

		memcpy(&disp, split->sec->data + at + off, sizeof(disp));
		distance = disp;
	}
	to = at + insn->len + (uint64_t)distance;
	if (to >= piece->start && to < piece->end)
		return true;
	is_short = size == 1 && insn->len == 2 && insn->flow == INSN_JUMP;
	if ((size != sizeof(int32_t) && !is_short) || to >= split->sec->size ||
	    split->pieces.items[piece_at(split, to)].start != to)
		return false;
	crossing = vec_push(&split->crossings);
	if (!crossing) {
		split->oom = true;
		return false;
	}
	*crossing = (struct crossing){ from, piece_at(split, to), at + off,
				       (uint8_t)(insn->len - off), is_short };
	return true;
}

static bool is_filler(const struct objsec *sec, uint64_t at, const struct insn *insn)
{
	return insn->is_nop || (insn->len == 1 && sec->data[at] == 0xcc);
}

/* Makes room for a long jump in the place of a short one; false if that isn't at the end. */
static bool grow_piece(struct split *split, size_t index)
{
	struct piece *piece = &split->pieces.items[index];
	struct crossing *crossing;

	vec_for_each (&split->crossings, crossing) {
		if (crossing->from != index || !crossing->is_short)
			continue;
		if (crossing->offset + crossing->behind != piece->end)
			return false;
		piece->grows = (uint8_t)(arch_native()->jump_len - 2);
		crossing->behind = sizeof(int32_t);
	}
	return true;
}

/* Decodes a piece, and cuts off what fills the space behind it. */
static bool read_piece(struct split *split, size_t index)
{
	struct piece *piece = &split->pieces.items[index];
	uint64_t end = piece->start;
	struct insn insn, last = { 0 };

	for (uint64_t at = piece->start; at < piece->end; at += insn.len) {
		bool filled;

		if (!arch_native()->insn_decode(split->sec->data + at, piece->end - at, &insn) ||
		    !insn.len)
			return false;
		if (is_filler(split->sec, at, &insn))
			continue;
		end = at + insn.len;
		last = insn;
		filled = (insn.rel_size && !reference_within(split->sec, at + insn.rel_off, 1)) ||
			 (insn.pc_relative_mem &&
			  !reference_within(split->sec, at + insn.disp_off, 1));
		if (filled && !take_distance(split, index, at, &insn))
			return false;
	}
	/* What a symbol counts as its function's stays in it. */
	for (size_t i = 0; i < split->obj->syms.n; i++) {
		const struct objsym *sym = split->obj->syms.items[i];

		if (sym->sec != split->sec || sym->type != STT_FUNC || sym->value != piece->start)
			continue;
		if (sym->size > piece->end - piece->start)
			return false;
		if (sym->value + sym->size > end)
			end = sym->value + sym->size;
	}
	piece->end = end;
	/* Behind the last instruction something would run on. */
	if (last.flow != INSN_JUMP && last.flow != INSN_JUMP_INDIRECT && last.flow != INSN_RETURN &&
	    last.flow != INSN_TRAP)
		return false;
	return end > piece->start && grow_piece(split, index);
}

static bool only_fillers(const struct split *split, uint64_t from, uint64_t to)
{
	struct insn insn;

	for (; from < to; from += insn.len)
		if (!arch_native()->insn_decode(split->sec->data + from, to - from, &insn) ||
		    !insn.len || !is_filler(split->sec, from, &insn))
			return false;
	return true;
}

/* Where code leads that refers to the section: the processor counts from the instruction's end. */
static bool code_target(const struct objsec *from, const struct objrel *rel, int64_t *ret)
{
	struct insn insn;

	for (uint64_t at = 0; from->data && at < from->size; at += insn.len) {
		if (!arch_native()->insn_decode(from->data + at, from->size - at, &insn) ||
		    !insn.len)
			return false;
		if (at + insn.len <= rel->offset)
			continue;
		*ret = (int64_t)rel->sym->value + rel->addend +
		       (int64_t)(at + insn.len - rel->offset);
		return true;
	}
	return false;
}

/* The place in the section that a relocation means by the section or by a local name. */
static bool target_of(const struct objsec *from, const struct objrel *rel, int64_t *ret)
{
	*ret = (int64_t)rel->sym->value + rel->addend;
	if (!reference_is_relative(rel))
		return true;
	if (objsec_is_code(from))
		return code_target(from, rel, ret);
	/* Call frame information begins a function at the very place. */
	return !strcmp(from->name, ".eh_frame");
}

/* Does call frame information speak of one function in each of its records? */
static bool covers_one(const struct split *split, const struct objsec *from,
		       const struct objrel *rel, int64_t target)
{
	const struct piece *piece = &split->pieces.items[piece_at(split, (uint64_t)target)];
	uint32_t len;

	if (strcmp(from->name, ".eh_frame") != 0)
		return true;
	if (!from->data || rel->offset + 4 + sizeof(len) > from->size)
		return false;
	memcpy(&len, from->data + rel->offset + 4, sizeof(len));
	return (uint64_t)target == piece->start && piece->start + len <= piece->end;
}

static bool is_local_reference(const struct split *split, const struct objsec *from,
			       const struct objrel *rel)
{
	return rel->sym && rel->sym->sec == split->sec && from != NULL &&
	       (from->flags & SHF_ALLOC) &&
	       (rel->sym->type == STT_SECTION || rel->sym->bind == STB_LOCAL);
}

/* Are all references to places in the section understood? */
static bool references_are_clear(const struct split *split)
{
	for (size_t i = 0; i < split->obj->secs.n; i++) {
		const struct objsec *from = split->obj->secs.items[i];
		const struct objrel *rel;

		vec_for_each (&from->rels, rel) {
			const struct piece *piece;
			int64_t target;

			if (!is_local_reference(split, from, rel))
				continue;
			if (!target_of(from, rel, &target) || target < 0 ||
			    (uint64_t)target >= split->sec->size ||
			    !covers_one(split, from, rel, target))
				return false;
			piece = &split->pieces.items[piece_at(split, (uint64_t)target)];
			if ((uint64_t)target >= piece->end)
				return false;
			/* A place within another function would be that of the old one. */
			if (from == split->sec && (uint64_t)target != piece->start &&
			    piece != &split->pieces.items[piece_at(split, rel->offset)])
				return false;
		}
	}
	return true;
}

/* References by the section or by a local name now go by the piece's own section. */
static void move_references(const struct split *split)
{
	for (size_t i = 0; i < split->obj->secs.n; i++) {
		const struct objsec *from = split->obj->secs.items[i];
		struct objrel *rel;

		vec_for_each (&from->rels, rel) {
			const struct piece *piece;
			int64_t target;

			if (!is_local_reference(split, from, rel) || !target_of(from, rel, &target))
				continue;
			piece = &split->pieces.items[piece_at(split, (uint64_t)target)];
			rel->addend += (int64_t)rel->sym->value - (int64_t)piece->start;
			rel->sym = piece->sec->secsym;
		}
	}
}

static int add_section(struct split *split, struct piece *piece, struct uspl_err *err)
{
	const struct objsec *whole = split->sec;
	auto_buf struct buf name = { 0 }, code = { 0 };
	uint64_t len;

	buf_addf(&name, "%s.%s", whole->name, piece->sym->name);
	piece->sec = objfile_add_section(split->obj, buf_str(&name), whole->type, whole->flags);
	if (name.oom || !piece->sec)
		return uspl_fail_nomem(err);
	piece->sec->secsym = objfile_add_symbol(split->obj, "", STT_SECTION, STB_LOCAL);
	piece->sec->align = whole->align;
	piece->sec->group = whole->group;
	piece->sec->group_sig = whole->group_sig;
	/* For debugging information, which speaks of the file's section. */
	piece->sec->index = whole->index;
	piece->sec->mark = (uint32_t)piece->start;
	len = piece->end - piece->start;
	buf_add(&code, whole->data + piece->start, len);
	buf_addzero(&code, piece->grows);
	piece->sec->size = code.len;
	piece->sec->data = objfile_memdup(split->obj, buf_str(&code), code.len);
	if (code.oom || !piece->sec->secsym || !piece->sec->data)
		return uspl_fail_nomem(err);
	if (piece->grows)
		arch_native()->jump_encode(0, arch_native()->jump_len, piece->sec->data + len - 2);
	piece->sec->secsym->sec = piece->sec;
	return 0;
}

/* The relocations of the section, and those that its distances become. */
static int move_relocations(struct split *split, struct uspl_err *err)
{
	const struct crossing *crossing;
	const struct objrel *rel;
	struct piece *piece;

	vec_for_each (&split->sec->rels, rel) {
		struct objrel *moved;

		piece = &split->pieces.items[piece_at(split, rel->offset)];
		if (rel->offset >= piece->end)
			continue;
		moved = vec_push(&piece->sec->rels);
		if (!moved)
			return uspl_fail_nomem(err);
		*moved = *rel;
		moved->offset -= piece->start;
	}
	vec_for_each (&split->crossings, crossing) {
		struct objrel *made;

		piece = &split->pieces.items[crossing->from];
		made = vec_push(&piece->sec->rels);
		if (!made)
			return uspl_fail_nomem(err);
		made->offset = crossing->offset - piece->start;
		made->type = arch_native()->pcrel_type;
		made->sym = split->pieces.items[crossing->to].sec->secsym;
		made->addend = -(int64_t)crossing->behind;
		memset(piece->sec->data + made->offset, 0, sizeof(int32_t));
	}
	vec_for_each (&split->pieces, piece)
		objsec_sort_rels(piece->sec);
	split->sec->rels.n = 0;
	return 0;
}

static void move_symbols(const struct split *split)
{
	for (size_t i = 0; i < split->obj->syms.n; i++) {
		struct objsym *sym = split->obj->syms.items[i];
		const struct piece *piece;

		if (sym->sec != split->sec || sym->type == STT_SECTION)
			continue;
		piece = &split->pieces.items[piece_at(split, sym->value)];
		if (begins_function(sym, split->sec)) {
			sym->type = STT_FUNC;
			sym->size = sym->size ? sym->size : piece->end - piece->start;
			sym->size += piece->grows;
		}
		sym->sec = piece->sec;
		sym->value -= piece->start;
	}
}

static int split_section(struct objfile *obj, struct objsec *sec, struct uspl_err *err)
{
	auto_split struct split split = { .obj = obj, .sec = sec };
	bool possible = find_pieces(&split) && only_fillers(&split, 0, split.pieces.items[0].start);
	struct piece *piece;
	int rc;

	for (size_t i = 0; possible && i < split.pieces.n; i++)
		possible = read_piece(&split, i);
	possible = possible && references_are_clear(&split);

	if (split.oom)
		return uspl_fail_nomem(err);
	if (!possible)
		return 0;
	vec_for_each (&split.pieces, piece) {
		rc = add_section(&split, piece, err);
		if (rc)
			return rc;
	}
	move_references(&split);
	rc = move_relocations(&split, err);
	if (rc)
		return rc;
	move_symbols(&split);
	sec->size = 0;
	return 0;
}

int functions_split(struct objfile *obj, struct uspl_err *err)
{
	/* The new ones are added behind. */
	size_t n = obj->secs.n;

	/*
	 * The sections that may have to be split are marked. Nearly all have one function, whose
	 * type is said, at their beginning: to look for others in each would be to go through all
	 * symbols each time.
	 */
	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i];

		if (sym->sec && begins_function(sym, sym->sec) &&
		    (sym->type != STT_FUNC || sym->value))
			sym->sec->mark = 1;
	}
	for (size_t i = 0; i < n; i++) {
		struct objsec *sec = obj->secs.items[i];
		bool is_candidate = sec->mark;
		int rc = 0;

		sec->mark = 0;
		if (is_candidate && objsec_is_code(sec) && sec->data && sec->size)
			rc = split_section(obj, sec, err);
		if (rc)
			return rc;
	}
	return 0;
}
