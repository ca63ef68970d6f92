// SPDX-License-Identifier: GPL-3.0-or-later
// xrefs.c - which places of a module's code its code and data refer to
/*
 * Code: the targets of direct calls and jumps, and of instructions that make an address (lea of a
 * place relative to the instruction; a constant, in programs that lie at fixed addresses). Data:
 * every aligned word that is the beginning of a piece, which the dynamic linker has filled in where
 * the program can lie anywhere. What comes out of tables of distances (of a switch) isn't seen: it
 * leads to no beginning of a function.
 *
 * A large library has millions of branches. So what is asked is noted as bits: of branches, whether
 * one leads to a byte; of all else, how a beginning is referred to.
 */

#include "trace/engine/xrefs.h"

#include <string.h>

#include "arch/arch.h"

#define INSN_LEN_MAX 15
#define BITS 64

bool xrefs_hold(const addr_vec *addrs, taddr addr)
{
	size_t i = vec_lower_bound(addrs, it, *it < addr);

	return i < addrs->n && addrs->items[i] == addr;
}

/* What xrefs_find works on. */
struct search {
	const struct image *image;
	struct xrefs xrefs;
};

static bool test(const uint64_t *bits, uint64_t i)
{
	return bits[i / BITS] >> i % BITS & 1;
}

static void set(uint64_t *bits, uint64_t i)
{
	bits[i / BITS] |= 1ull << i % BITS;
}

/* Which piece begins at addr; their number if none does. */
static size_t piece_at(const struct xrefs *xrefs, taddr addr)
{
	uint64_t i = addr - xrefs->start;

	if (i >= xrefs->len || !test(xrefs->begins, i))
		return xrefs->pieces->n;
	return vec_lower_bound(xrefs->pieces, it, it->start < addr);
}

static void note(struct xrefs *xrefs, taddr addr, enum xref kind)
{
	size_t i = piece_at(xrefs, addr);

	if (i < xrefs->pieces->n)
		xrefs->kinds[i] |= (uint8_t)kind;
}

static void note_branch(struct xrefs *xrefs, taddr target)
{
	if (target - xrefs->start < xrefs->len)
		set(xrefs->branches, target - xrefs->start);
}

bool xrefs_have(const struct xrefs *xrefs, taddr addr, enum xref kind)
{
	size_t i = piece_at(xrefs, addr);

	return i < xrefs->pieces->n && xrefs->kinds[i] & kind;
}

bool xrefs_branch_into(const struct xrefs *xrefs, taddr from, taddr to)
{
	for (taddr addr = from; addr < to; addr++)
		if (addr - xrefs->start < xrefs->len && test(xrefs->branches, addr - xrefs->start))
			return true;
	return false;
}

/* The constant of an instruction; 0 if it has none that could be an address. */
static taddr constant(const uint8_t *code, const struct insn *insn)
{
	int32_t word;
	taddr value = 0;

	if (insn->imm_size == sizeof(word)) {
		memcpy(&word, code + insn->imm_off, sizeof(word));
		value = (taddr)(int64_t)word;
	} else if (insn->imm_size == sizeof(value)) {
		memcpy(&value, code + insn->imm_off, sizeof(value));
	}
	return value;
}

/*
 * The address of a memory operand that is relative to the instruction, which ends at `next`; or 0.
 */
static taddr relative(const uint8_t *code, const struct insn *insn, taddr next)
{
	int32_t disp;

	if (!insn->pc_relative_mem || insn->disp_size != sizeof(disp))
		return 0;
	memcpy(&disp, code + insn->disp_off, sizeof(disp));
	return next + (taddr)(int64_t)disp;
}

static void add_insn(struct xrefs *xrefs, const uint8_t *code, const struct insn *insn, taddr next)
{
	taddr target = next + (taddr)insn->rel;

	switch (insn->flow) {
	case INSN_CALL:
		note(xrefs, target, XREF_CALL);
		note_branch(xrefs, target);
		break;
	case INSN_JUMP:
		note(xrefs, target, XREF_JUMP);
		note_branch(xrefs, target);
		break;
	case INSN_COND_JUMP:
		note_branch(xrefs, target);
		break;
	default:
		note(xrefs, constant(code, insn), XREF_TAKEN);
		note(xrefs, relative(code, insn, next), XREF_TAKEN);
	}
}

static void add_piece(struct search *search, size_t i)
{
	const struct code_piece *piece = &search->xrefs.pieces->items[i];
	const uint8_t *code = image_bytes(search->image, piece->start, piece->size);
	size_t at = 0;

	while (code && at < piece->size) {
		struct insn insn;

		if (!arch_native()->insn_skim(code + at, piece->size - at, &insn)) {
			/* At the end there may be padding that isn't code, or half of an insn. */
			if (piece->size - at >= INSN_LEN_MAX)
				search->xrefs.kinds[i] |= XREF_UNKNOWN;
			return;
		}
		add_insn(&search->xrefs, code + at, &insn, piece->start + at + insn.len);
		at += insn.len;
	}
}

/* The words of a segment that isn't code. */
static void add_data(struct search *search, const struct image_seg *seg)
{
	if (seg->exec || !seg->bytes)
		return;
	for (size_t at = -seg->start % sizeof(taddr); at + sizeof(taddr) <= seg->len;
	     at += sizeof(taddr)) {
		taddr word;

		memcpy(&word, seg->bytes + at, sizeof(word));
		note(&search->xrefs, word, XREF_TAKEN);
	}
}

static int make_room(struct xrefs *xrefs, struct uspl_err *err)
{
	const code_pieces *pieces = xrefs->pieces;
	const struct code_piece *piece;
	size_t words;

	vec_for_each (pieces, piece) {
		uint64_t end = piece->start + piece->size - pieces->items[0].start;

		xrefs->len = end > xrefs->len ? end : xrefs->len;
	}
	xrefs->start = pieces->n ? pieces->items[0].start : 0;
	words = xrefs->len / BITS + 1;
	xrefs->kinds = calloc(pieces->n + 1, 1);
	xrefs->branches = calloc(words, sizeof(uint64_t));
	xrefs->begins = calloc(words, sizeof(uint64_t));
	if (!xrefs->kinds || !xrefs->branches || !xrefs->begins)
		return uspl_fail_nomem(err);
	vec_for_each (pieces, piece)
		if (piece->start - xrefs->start < xrefs->len)
			set(xrefs->begins, piece->start - xrefs->start);
	return 0;
}

int xrefs_find(const struct image *image, const code_pieces *pieces, struct xrefs *ret,
	       struct uspl_err *err)
{
	struct search search = { .image = image, .xrefs.pieces = pieces };
	const struct image_seg *seg;
	taddr from = pieces->n ? pieces->items[0].start : 0;
	int rc = make_room(&search.xrefs, err);

	if (rc) {
		xrefs_release(&search.xrefs);
		return rc;
	}
	for (size_t i = 0; i < pieces->n; i++) {
		add_piece(&search, i);
		image_forget(image, &from, pieces->items[i].start);
	}
	vec_for_each (&image->segs, seg)
		add_data(&search, seg);
	*ret = search.xrefs;
	return 0;
}

void xrefs_release(struct xrefs *xrefs)
{
	free(xrefs->kinds);
	free(xrefs->branches);
	free(xrefs->begins);
}
