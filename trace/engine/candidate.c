// SPDX-License-Identifier: GPL-3.0-or-later
// candidate.c - the functions of a module, and how each can be traced
/*
 * A branch that leads into the moved bytes, behind the first one, would lead into the middle of the
 * jump. So all of the module's code is decoded (xrefs.h), and a function that can't be decoded to
 * its end isn't touched. Jumps through tables lead to the cases of a switch, which don't lie in a
 * function's first five bytes: in front of them stand the bounds check and the jump itself.
 *
 * In a stripped program a beginning may be a function's or that of a part (.cold) to which others
 * jump, with the stack and the flags as they are there. A function is what is called. What lies on
 * the stack of most parts isn't what a call leaves (image->parts). A part of a function that keeps
 * nothing on the stack isn't told from a function by this, and needn't be: it returns as that
 * function does, so all that the tracer could spoil are the flags. So it is traced if it is jumped
 * to (without a condition: as a function that others end with) and reads no flags, or if it is
 * entered by indirect jumps, which no compiler carries flags over: then its address is held
 * somewhere, or it has a mark for them.
 */

#include "trace/engine/candidate.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/trampoline.h"
#include "trace/engine/xrefs.h"
#include "trace/engine/untraceable.h"

/* Functions larger than this are not looked through. */
#define SIZE_MAX_MOVED (4u << 20)

static bool is_code(const struct image *image, taddr addr)
{
	const struct image_seg *seg = image_seg_at(image, addr);

	return seg && seg->exec && seg->bytes;
}

static int by_entry(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	/*
	 * Of several names for one place the one with a size, then the last of the alphabet, which
	 * begins with no underscore (as image_sym_at has it).
	 */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	return x->name && y->name ? strcmp(y->name, x->name) : 0;
}

static int by_place(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int add(candidate_vec *candidates, const char *name, taddr entry, uint64_t size,
	       struct uspl_err *err)
{
	struct candidate *candidate = vec_push(candidates);

	if (!candidate)
		return uspl_fail_nomem(err);
	*candidate = (struct candidate){ .name = name, .entry = entry, .size = size };
	return 0;
}

static int collect(const struct image *image, candidate_vec *candidates, struct uspl_err *err)
{
	const struct image_sym *sym;
	const taddr *start;
	int rc = 0;

	vec_for_each (&image->syms, sym)
		if ((sym->type == STT_FUNC || sym->type == STT_GNU_IFUNC) &&
		    is_code(image, sym->addr)) {
			rc = add(candidates, sym->name, sym->addr, sym->size, err);
			if (rc)
				return rc;
		}
	vec_for_each (&image->starts, start)
		if (is_code(image, *start)) {
			rc = add(candidates, NULL, *start, 0, err);
			if (rc)
				return rc;
		}
	return 0;
}

/* Sorts, keeps one of each place, and gives those without a size the room up to the next. */
static void settle(const struct image *image, candidate_vec *candidates)
{
	size_t n = 0;

	if (!candidates->n)
		return;
	qsort(candidates->items, candidates->n, sizeof(*candidates->items), by_entry);
	for (size_t i = 0; i < candidates->n; i++)
		if (!n || candidates->items[i].entry != candidates->items[n - 1].entry)
			candidates->items[n++] = candidates->items[i];
	candidates->n = n;
	for (size_t i = 0; i < n; i++) {
		struct candidate *candidate = &candidates->items[i];
		const struct image_seg *seg = image_seg_at(image, candidate->entry);
		taddr end = seg->start + seg->len;

		if (i + 1 < n && candidates->items[i + 1].entry < end)
			end = candidates->items[i + 1].entry;
		if (!candidate->size || candidate->size > end - candidate->entry)
			candidate->size = end - candidate->entry;
	}
}

/* How many bytes of NOPs begin at code. */
static size_t nops(const uint8_t *code, size_t len)
{
	struct insn insn;
	size_t n = 0;

	while (n < len && arch_native()->insn_decode(code + n, len - n, &insn) && insn.is_nop)
		n += insn.len;
	return n;
}

/*
 * How many bytes of room a compiler has left: NOPs, or a jump over NOPs (clang -fxray-instrument).
 */
static size_t room(const uint8_t *code, size_t len)
{
	struct insn insn;
	size_t n = nops(code, len);

	if (n || !arch_native()->insn_decode(code, len, &insn) || insn.flow != INSN_JUMP ||
	    insn.rel <= 0 || (uint64_t)insn.rel > len - insn.len ||
	    nops(code + insn.len, (size_t)insn.rel) != (size_t)insn.rel)
		return n;
	return insn.len + (size_t)insn.rel;
}

static size_t first_len(const uint8_t *code, size_t len)
{
	struct insn insn;

	return arch_native()->insn_decode(code, len, &insn) ? insn.len : 0;
}

/*
 * Makes room for a jump of `want` bytes at the entry: candidate->len and ->guard. Returns why it
 * can't be done, NULL if it can.
 */
static const char *make_room(const uint8_t *code, size_t len, size_t want,
			     struct candidate *candidate)
{
	uint8_t moved[INSN_MOVED_MAX];
	struct insn insn = { 0 };
	size_t n = 0, n_insns = 0, moved_len;

	while (n < want) {
		if (n >= len)
			return "it is too short";
		if (!arch_native()->insn_decode(code + n, len - n, &insn))
			return "its first instructions can't be decoded";
		/*
		 * A thread that waits there is behind it, and may come back to where the jump would
		 * be by then.
		 */
		if (insn.is_syscall)
			return "a system call is among its first bytes";
		if (insn_move(candidate->entry + n, code + n, len - n, candidate->entry, moved,
			      &moved_len, NULL) < 0)
			return "its first instructions can't be moved";
		n += insn.len;
		n_insns++;
		if (n < want && (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
			return "a call returns into its first bytes";
		if (n < want && insn.flow != INSN_PLAIN && insn.flow != INSN_COND_JUMP)
			return "it ends within its first bytes";
	}
	candidate->len = (uint8_t)n;
	candidate->guard = n_insns > 1 ? (uint8_t)n : 1;
	/* A return to the end of the moved bytes finds there what it expects. */
	if (n_insns > 1 && (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
		candidate->guard--;
	return NULL;
}

static void judge(const struct image *image, const struct xrefs *xrefs, struct candidate *candidate)
{
	const uint8_t *code = image_bytes(image, candidate->entry, candidate->size);
	size_t want = arch_native()->jump_len, mark, free;

	if (!code || candidate->size > SIZE_MAX_MOVED) {
		candidate->why = code ? "it is too large" : "its code can't be read";
		return;
	}
	memcpy(candidate->code, code,
	       candidate->size < CANDIDATE_CODE ? candidate->size : CANDIDATE_CODE);
	/*
	 * The jump goes over the mark, which nothing checks while shadow stacks and the like are
	 * off: an update's jump goes to the very entry as well.
	 */
	mark = arch_native()->landing_mark(code, candidate->size);
	free = room(code + mark, candidate->size - mark);
	if (free >= want && free < candidate->size - mark) {
		candidate->kind = CANDIDATE_NOPS;
		candidate->len = (uint8_t)(mark + free > 255 ? 255 : mark + free);
		candidate->guard =
			!mark && first_len(code, candidate->size) >= want ? 1 : (uint8_t)want;
		return;
	}
	candidate->why = make_room(code, candidate->size, want, candidate);
	if (!candidate->why && xrefs_have(xrefs, candidate->entry, XREF_UNKNOWN))
		candidate->why = "its code can't be decoded";
	if (!candidate->why &&
	    xrefs_branch_into(xrefs, candidate->entry + 1, candidate->entry + candidate->len))
		candidate->why = "a branch leads into its first bytes";
	if (!candidate->why)
		candidate->kind = CANDIDATE_MOVED;
}

/* True if a beginning without a name can be traced as if it were called. */
static bool is_like_function(const struct image *image, const struct xrefs *xrefs,
			     const struct candidate *candidate)
{
	const uint8_t *code = image_bytes(image, candidate->entry, candidate->size);

	return xrefs_have(xrefs, candidate->entry, XREF_TAKEN) ||
	       (code && (arch_native()->landing_mark(code, candidate->size) ||
			 (xrefs_have(xrefs, candidate->entry, XREF_JUMP) &&
			  arch_native()->ignores_flags(code, candidate->size))));
}

/*
 * The candidate that the code at the entry jumps on to, before it does anything but compute; or
 * NULL.
 */
static const struct candidate *goes_on_to(const struct image *image,
					  const candidate_vec *candidates,
					  const struct candidate *candidate)
{
	const uint8_t *code = image_bytes(image, candidate->entry, candidate->size);
	struct candidate key = { 0 };
	struct insn insn = { 0 };
	uint64_t at = 0;

	while (code && at < candidate->size && insn.flow == INSN_PLAIN) {
		if (!arch_native()->insn_decode(code + at, candidate->size - at, &insn))
			return NULL;
		at += insn.len;
	}
	key.entry = candidate->entry + at + (taddr)insn.rel;
	return code && insn.flow == INSN_JUMP
		       ? bsearch(&key, candidates->items, candidates->n, sizeof(key), by_place)
		       : NULL;
}

/*
 * A function that jumps on to one whose entry only can be traced (_setjmp does) is such a one as
 * well.
 */
static void judge_jumps(const struct image *image, candidate_vec *candidates)
{
	taddr from = candidates->n ? candidates->items[0].entry : 0;
	struct candidate *candidate;

	vec_for_each (candidates, candidate) {
		const struct candidate *next = goes_on_to(image, candidates, candidate);

		candidate->entry_only |= next && next->entry_only;
		image_forget(image, &from, candidate->entry);
	}
}

/* Leaves out the parts. */
static void drop_parts(const struct image *image, const struct xrefs *xrefs,
		       candidate_vec *candidates)
{
	const addr_vec parts = { .items = image->parts.items, .n = image->parts.n };
	size_t n = 0;

	for (size_t i = 0; i < candidates->n; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (candidate->name || xrefs_have(xrefs, candidate->entry, XREF_CALL) ||
		    !xrefs_hold(&parts, candidate->entry))
			candidates->items[n++] = *candidate;
	}
	candidates->n = n;
}

/* pieces: filled in, and referred to by *ret. */
static int find_xrefs(const struct image *image, const candidate_vec *candidates,
		      code_pieces *pieces, struct xrefs *ret, struct uspl_err *err)
{
	const struct candidate *candidate;

	vec_for_each (candidates, candidate) {
		struct code_piece *piece = vec_push(pieces);

		if (!piece)
			return uspl_fail_nomem(err);
		*piece = (struct code_piece){ candidate->entry, candidate->size };
	}
	return xrefs_find(image, pieces, ret, err);
}

static void judge_all(const struct image *image, const struct xrefs *xrefs,
		      candidate_vec *candidates)
{
	struct untraceable untraceable;
	taddr from = candidates->n ? candidates->items[0].entry : 0;
	struct candidate *candidate;

	untraceable_init(&untraceable, image, candidates);
	vec_for_each (candidates, candidate) {
		candidate->why = untraceable_why(&untraceable, candidate->name);
		if (candidate->why)
			continue;
		if (!candidate->name && !xrefs_have(xrefs, candidate->entry, XREF_CALL) &&
		    !is_like_function(image, xrefs, candidate))
			candidate->why = "it may be a part of another function";
		else
			judge(image, xrefs, candidate);
		candidate->entry_only = untraceable_entry_only(&untraceable, candidate);
		image_forget(image, &from, candidate->entry);
	}
}

int candidates_find(const struct image *image, candidate_vec *ret, struct uspl_err *err)
{
	auto_vec candidate_vec candidates = { 0 };
	auto_vec code_pieces pieces = { 0 };
	struct xrefs xrefs = { 0 };
	int rc = collect(image, &candidates, err);

	if (rc)
		return rc;
	settle(image, &candidates);
	rc = find_xrefs(image, &candidates, &pieces, &xrefs, err);
	if (rc)
		return rc;
	drop_parts(image, &xrefs, &candidates);
	judge_all(image, &xrefs, &candidates);
	judge_jumps(image, &candidates);
	xrefs_release(&xrefs);
	*ret = candidates;
	candidates = (candidate_vec){ 0 };
	return 0;
}
