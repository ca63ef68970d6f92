// SPDX-License-Identifier: GPL-3.0-or-later
// xrefs.c - which places of a module's code its code and data refer to
/*
 * Code: the targets of direct calls and jumps, and of instructions that make an address (lea of a
 * place relative to the instruction; a constant, in programs that lie at fixed addresses). Data:
 * every aligned word that is the beginning of a piece, which the dynamic linker has filled in where
 * the program can lie anywhere. What comes out of tables of distances (of a switch) isn't seen: it
 * leads to no beginning of a function.
 *
 * A large library has millions of branches, and a few functions for each of its pages. So what is
 * kept is what is asked: of each piece how its beginning is referred to, and to which of its first
 * bytes branches lead.
 */

#include "trace/engine/xrefs.h"

#include <string.h>

#include "arch/arch.h"

#define INSN_LEN_MAX 15
/* As much code is asked for at once. */
#define WINDOW (64u << 10)
/* An index of as many buckets for each piece, and some more, is made. */
#define BUCKETS 4
#define BUCKETS_LEAST 1024

bool xrefs_hold(const addr_vec *addrs, taddr addr)
{
	size_t i = vec_lower_bound(addrs, it, *it < addr);

	return i < addrs->n && addrs->items[i] == addr;
}

/* The last piece that begins at addr or below; their number if there is none. */
static size_t piece_below(const struct xrefs *xrefs, taddr addr)
{
	const taddr *starts = xrefs->starts.items;
	size_t bucket, low, high;

	if (!xrefs->starts.n || addr < starts[0])
		return xrefs->starts.n;
	bucket = (addr - starts[0]) >> xrefs->shift;
	if (bucket >= xrefs->n_buckets)
		return xrefs->starts.n - 1;
	low = xrefs->buckets[bucket];
	high = xrefs->buckets[bucket + 1];
	/* Most buckets have one beginning or none. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (starts[mid] <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low - 1;
}

/* Which piece begins at addr; their number if none does. */
static size_t piece_at(const struct xrefs *xrefs, taddr addr)
{
	size_t i = piece_below(xrefs, addr);

	return i < xrefs->starts.n && xrefs->starts.items[i] == addr ? i : xrefs->starts.n;
}

static void note(struct xrefs *xrefs, taddr addr, enum xref kind)
{
	size_t i = piece_at(xrefs, addr);

	if (i < xrefs->starts.n)
		xrefs->kinds[i] |= (uint8_t)kind;
}

/* kind: what it is if it leads to a beginning; 0: no reference. */
static void note_branch(struct xrefs *xrefs, taddr target, unsigned int kind)
{
	size_t i = piece_below(xrefs, target);
	uint64_t off = i < xrefs->starts.n ? target - xrefs->starts.items[i] : XREFS_FIRST_BYTES;

	if (off >= XREFS_FIRST_BYTES)
		return;
	xrefs->branches[i] |= 1u << off;
	if (!off)
		xrefs->kinds[i] |= (uint8_t)kind;
}

bool xrefs_have(const struct xrefs *xrefs, taddr addr, enum xref kind)
{
	size_t i = piece_at(xrefs, addr);

	return i < xrefs->starts.n && xrefs->kinds[i] & kind;
}

bool xrefs_branch_behind(const struct xrefs *xrefs, taddr start, size_t len)
{
	const uint32_t behind = (uint32_t)((1ull << len) - 1) & ~1u;
	size_t i = piece_at(xrefs, start);

	return i < xrefs->starts.n && xrefs->branches[i] & behind;
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
		note_branch(xrefs, target, XREF_CALL);
		break;
	case INSN_JUMP:
		note_branch(xrefs, target, XREF_JUMP);
		break;
	case INSN_COND_JUMP:
		note_branch(xrefs, target, 0);
		break;
	default:
		note(xrefs, constant(code, insn), XREF_TAKEN);
		note(xrefs, relative(code, insn, next), XREF_TAKEN);
	}
}

void xrefs_add_code(struct xrefs *xrefs, const struct image *image, size_t i, uint64_t size,
		    taddr *ret_jump)
{
	taddr start = xrefs->starts.items[i];
	bool plain = true;
	uint64_t at = 0;

	*ret_jump = 0;
	while (at < size) {
		size_t len = size - at < WINDOW ? (size_t)(size - at) : WINDOW, off = 0;
		/* What is cut off at a window's end is looked at in the next one. */
		size_t end = len == size - at ? len : len - INSN_LEN_MAX;
		const uint8_t *code = image_bytes(image, start + at, len);

		if (!code)
			return;
		while (off < end) {
			struct insn insn;
			taddr next;

			if (!arch_native()->insn_skim(code + off, len - off, &insn)) {
				/*
				 * At the end there may be padding that isn't code, or half of an
				 * insn.
				 */
				if (size - at - off >= INSN_LEN_MAX)
					xrefs->kinds[i] |= XREF_UNKNOWN;
				return;
			}
			next = start + at + off + insn.len;
			if (plain && insn.flow == INSN_JUMP)
				*ret_jump = next + (taddr)insn.rel;
			plain &= insn.flow == INSN_PLAIN;
			add_insn(xrefs, code + off, &insn, next);
			off += insn.len;
		}
		at += off;
	}
}

void xrefs_add_data(struct xrefs *xrefs, const struct image *image)
{
	const struct image_seg *seg;

	vec_for_each (&image->segs, seg) {
		size_t at = -seg->start % sizeof(taddr);
		taddr from = seg->start + at;

		for (; !seg->exec && at + sizeof(taddr) <= seg->len; at += WINDOW) {
			size_t len = seg->len - at < WINDOW ? seg->len - at : WINDOW;
			const uint8_t *bytes = image_bytes(image, seg->start + at, len);
			taddr word;

			for (size_t i = 0; bytes && i + sizeof(word) <= len; i += sizeof(word)) {
				memcpy(&word, bytes + i, sizeof(word));
				note(xrefs, word, XREF_TAKEN);
			}
			image_forget(image, &from, seg->start + at);
		}
	}
}

int xrefs_init(struct xrefs *xrefs, addr_vec *starts, struct uspl_err *err)
{
	const size_t n = starts->n;
	uint64_t span = n ? starts->items[n - 1] - starts->items[0] : 0;
	size_t bucket = 0;

	*xrefs = (struct xrefs){ .starts = { starts->items, n, n } };
	*starts = (addr_vec){ 0 };
	while (span >> xrefs->shift > BUCKETS * n + BUCKETS_LEAST)
		xrefs->shift++;
	xrefs->n_buckets = (size_t)(span >> xrefs->shift) + 1;
	xrefs->kinds = calloc(n + 1, sizeof(*xrefs->kinds));
	xrefs->branches = calloc(n + 1, sizeof(*xrefs->branches));
	xrefs->buckets = calloc(xrefs->n_buckets + 1, sizeof(*xrefs->buckets));
	if (!xrefs->kinds || !xrefs->branches || !xrefs->buckets) {
		xrefs_release(xrefs);
		return uspl_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t in = (xrefs->starts.items[i] - xrefs->starts.items[0]) >> xrefs->shift;
		     bucket <= in; bucket++)
			xrefs->buckets[bucket] = (uint32_t)i;
	for (; bucket <= xrefs->n_buckets; bucket++)
		xrefs->buckets[bucket] = (uint32_t)n;
	return 0;
}

void xrefs_release(struct xrefs *xrefs)
{
	vec_release(&xrefs->starts);
	free(xrefs->kinds);
	free(xrefs->branches);
	free(xrefs->buckets);
}
