// SPDX-License-Identifier: GPL-3.0-or-later
// xrefs.c - which places of a module's code its code and data refer to
/*
 * Code: the targets of direct calls and jumps, and of instructions that make an address (lea of a
 * place relative to the instruction; a constant, in programs that lie at fixed addresses). Data:
 * every aligned word that is the beginning of a piece, which the dynamic linker has filled in where
 * the program can lie anywhere. What comes out of tables of distances (of a switch) isn't seen: it
 * leads to no beginning of a function.
 */

#include "trace/engine/xrefs.h"

#include <string.h>

#include "arch/arch.h"

#define INSN_LEN_MAX 15

static int by_value(const void *a, const void *b)
{
	const taddr *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sort(addr_vec *addrs)
{
	if (addrs->n)
		qsort(addrs->items, addrs->n, sizeof(*addrs->items), by_value);
}

/* The first one at `from` or above; n if there is none. */
static size_t lower_bound(const addr_vec *addrs, taddr from)
{
	return vec_lower_bound(addrs, it, *it < from);
}

bool xrefs_meet(const addr_vec *addrs, taddr from, taddr to)
{
	size_t i = lower_bound(addrs, from);

	return i < addrs->n && addrs->items[i] < to;
}

bool xrefs_hold(const addr_vec *addrs, taddr addr)
{
	return xrefs_meet(addrs, addr, addr + 1);
}

static int add(addr_vec *addrs, taddr addr, struct uspl_err *err)
{
	taddr *place = vec_push(addrs);

	if (!place)
		return uspl_fail_nomem(err);
	*place = addr;
	return 0;
}

/* What xrefs_find works on. */
struct search {
	const struct image *image;
	const code_pieces *pieces;
	struct xrefs xrefs;
};

static bool is_beginning(const struct search *search, taddr addr)
{
	size_t low = vec_lower_bound(search->pieces, it, it->start < addr);

	return low < search->pieces->n && search->pieces->items[low].start == addr;
}

static int add_if_beginning(struct search *search, taddr addr, struct uspl_err *err)
{
	return is_beginning(search, addr) ? add(&search->xrefs.taken, addr, err) : 0;
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

static int add_insn(struct search *search, const uint8_t *code, const struct insn *insn, taddr next,
		    struct uspl_err *err)
{
	taddr target = next + (taddr)insn->rel;
	int rc = 0;

	switch (insn->flow) {
	case INSN_CALL:
		rc = add(&search->xrefs.calls, target, err);
		if (rc)
			return rc;
		return add(&search->xrefs.branches, target, err);
	case INSN_JUMP:
		rc = add(&search->xrefs.jumps, target, err);
		if (rc)
			return rc;
		return add(&search->xrefs.branches, target, err);
	case INSN_COND_JUMP:
		return add(&search->xrefs.branches, target, err);
	default:
		rc = add_if_beginning(search, constant(code, insn), err);
		if (rc)
			return rc;
		return add_if_beginning(search, relative(code, insn, next), err);
	}
}

static int add_piece(struct search *search, const struct code_piece *piece, struct uspl_err *err)
{
	const uint8_t *code = image_bytes(search->image, piece->start, piece->size);
	size_t at = 0;

	while (code && at < piece->size) {
		struct insn insn;
		int rc;

		/* At the end there may be padding that isn't code, or half of an instruction. */
		if (!arch_native()->insn_decode(code + at, piece->size - at, &insn))
			return piece->size - at < INSN_LEN_MAX
				       ? 0
				       : add(&search->xrefs.unknown, piece->start, err);
		rc = add_insn(search, code + at, &insn, piece->start + at + insn.len, err);
		if (rc)
			return rc;
		at += insn.len;
	}
	return 0;
}

/* The words of a segment that isn't code. */
static int add_data(struct search *search, const struct image_seg *seg, struct uspl_err *err)
{
	int rc = 0;

	if (seg->exec || !seg->bytes)
		return 0;
	for (size_t at = -seg->start % sizeof(taddr); at + sizeof(taddr) <= seg->len;
	     at += sizeof(taddr)) {
		taddr word;

		memcpy(&word, seg->bytes + at, sizeof(word));
		if (word >= search->image->start && word < search->image->end) {
			rc = add_if_beginning(search, word, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int add_all(struct search *search, struct uspl_err *err)
{
	const struct code_piece *piece;
	const struct image_seg *seg;
	int rc;

	vec_for_each (search->pieces, piece) {
		rc = add_piece(search, piece, err);
		if (rc)
			return rc;
	}
	vec_for_each (&search->image->segs, seg) {
		rc = add_data(search, seg, err);
		if (rc)
			return rc;
	}
	return 0;
}

int xrefs_find(const struct image *image, const code_pieces *pieces, struct xrefs *ret,
	       struct uspl_err *err)
{
	struct search search = { .image = image, .pieces = pieces };
	int rc = add_all(&search, err);

	if (rc) {
		xrefs_release(&search.xrefs);
		return rc;
	}
	sort(&search.xrefs.calls);
	sort(&search.xrefs.jumps);
	sort(&search.xrefs.branches);
	sort(&search.xrefs.taken);
	sort(&search.xrefs.unknown);
	*ret = search.xrefs;
	return 0;
}

void xrefs_release(struct xrefs *xrefs)
{
	vec_release(&xrefs->calls);
	vec_release(&xrefs->jumps);
	vec_release(&xrefs->branches);
	vec_release(&xrefs->taken);
	vec_release(&xrefs->unknown);
}
