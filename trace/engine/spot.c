// SPDX-License-Identifier: GPL-3.0-or-later
// spot.c - the functions of a module, and how each can be traced
/*
 * A branch that leads into the moved bytes, behind the first one, would lead into the middle of the
 * jump. So all of the module's code is decoded (refs.h), and a function that can't be decoded to
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

#include "trace/engine/spot.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/trampoline.h"
#include "trace/engine/refs.h"
#include "trace/engine/special.h"

/* Functions larger than this are not looked through. */
#define SIZE_MAX_MOVED (4u << 20)

static bool is_code(const struct image *image, taddr addr)
{
	const struct image_seg *seg = image_seg_at(image, addr);

	return seg && seg->exec && seg->bytes;
}

static int by_entry(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

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
	const struct spot *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int add(spot_vec *spots, const char *name, taddr entry, uint64_t size, struct uspl_err *err)
{
	struct spot *spot = vec_push(spots);

	if (!spot)
		return uspl_fail_nomem(err);
	*spot = (struct spot){ .name = name, .entry = entry, .size = size };
	return 0;
}

static int collect(const struct image *image, spot_vec *spots, struct uspl_err *err)
{
	const struct image_sym *sym;
	const taddr *start;
	int rc = 0;

	vec_for_each (&image->syms, sym)
		if (!rc && (sym->type == STT_FUNC || sym->type == STT_GNU_IFUNC) &&
		    is_code(image, sym->addr))
			rc = add(spots, sym->name, sym->addr, sym->size, err);
	vec_for_each (&image->starts, start)
		if (!rc && is_code(image, *start))
			rc = add(spots, NULL, *start, 0, err);
	return rc;
}

/* Sorts, keeps one of each place, and gives those without a size the room up to the next. */
static void settle(const struct image *image, spot_vec *spots)
{
	size_t n = 0;

	if (!spots->n)
		return;
	qsort(spots->items, spots->n, sizeof(*spots->items), by_entry);
	for (size_t i = 0; i < spots->n; i++)
		if (!n || spots->items[i].entry != spots->items[n - 1].entry)
			spots->items[n++] = spots->items[i];
	spots->n = n;
	for (size_t i = 0; i < n; i++) {
		struct spot *spot = &spots->items[i];
		const struct image_seg *seg = image_seg_at(image, spot->entry);
		taddr end = seg->start + seg->len;

		if (i + 1 < n && spots->items[i + 1].entry < end)
			end = spots->items[i + 1].entry;
		if (!spot->size || spot->size > end - spot->entry)
			spot->size = end - spot->entry;
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
 * Makes room for a jump of `want` bytes at the entry: spot->len and ->guard. Returns why it can't
 * be done, NULL if it can.
 */
static const char *make_room(const uint8_t *code, size_t len, size_t want, struct spot *spot)
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
		 * Who waits there is behind it, and may come back to where the jump would be by
		 * then.
		 */
		if (insn.is_syscall)
			return "a system call is among its first bytes";
		if (insn_move(spot->entry + n, code + n, len - n, spot->entry, moved, &moved_len,
			      NULL) < 0)
			return "its first instructions can't be moved";
		n += insn.len;
		n_insns++;
		if (n < want && (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
			return "a call returns into its first bytes";
		if (n < want && insn.flow != INSN_PLAIN && insn.flow != INSN_COND_JUMP)
			return "it ends within its first bytes";
	}
	spot->len = (uint8_t)n;
	spot->guard = n_insns > 1 ? (uint8_t)n : 1;
	/* What returns to the end of the moved bytes finds there what it expects. */
	if (n_insns > 1 && (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
		spot->guard--;
	return NULL;
}

static void judge(const struct image *image, const struct refs *refs, struct spot *spot)
{
	const uint8_t *code = image_bytes(image, spot->entry, spot->size);
	size_t want = arch_native()->jump_len, mark, free;

	if (!code || spot->size > SIZE_MAX_MOVED) {
		spot->why = code ? "it is too large" : "its code can't be read";
		return;
	}
	memcpy(spot->code, code, spot->size < SPOT_CODE ? spot->size : SPOT_CODE);
	/*
	 * The jump goes over the mark, which nothing checks while shadow stacks and the like are
	 * off: an update's jump goes to the very entry as well.
	 */
	mark = arch_native()->landing_mark(code, spot->size);
	free = room(code + mark, spot->size - mark);
	if (free >= want && free < spot->size - mark) {
		spot->kind = SPOT_NOPS;
		spot->len = (uint8_t)(mark + free > 255 ? 255 : mark + free);
		spot->guard = !mark && first_len(code, spot->size) >= want ? 1 : (uint8_t)want;
		return;
	}
	spot->why = make_room(code, spot->size, want, spot);
	if (!spot->why && xrefs_hold(&refs->unknown, spot->entry))
		spot->why = "its code can't be decoded";
	if (!spot->why && xrefs_meet(&refs->branches, spot->entry + 1, spot->entry + spot->len))
		spot->why = "a branch leads into its first bytes";
	if (!spot->why)
		spot->kind = SPOT_MOVED;
}

/* Of a beginning without a name: true if it can be traced as if it were called. */
static bool is_like_function(const struct image *image, const struct refs *refs,
			     const struct spot *spot)
{
	const uint8_t *code = image_bytes(image, spot->entry, spot->size);

	return xrefs_hold(&refs->taken, spot->entry) ||
	       (code && (arch_native()->landing_mark(code, spot->size) ||
			 (xrefs_hold(&refs->jumps, spot->entry) &&
			  arch_native()->ignores_flags(code, spot->size))));
}

/* The spot that the code at the entry jumps on to, before it does anything but compute; or NULL. */
static const struct spot *goes_on_to(const struct image *image, const spot_vec *spots,
				     const struct spot *spot)
{
	const uint8_t *code = image_bytes(image, spot->entry, spot->size);
	struct spot key = { 0 };
	struct insn insn = { 0 };
	uint64_t at = 0;

	while (code && at < spot->size && insn.flow == INSN_PLAIN) {
		if (!arch_native()->insn_decode(code + at, spot->size - at, &insn))
			return NULL;
		at += insn.len;
	}
	key.entry = spot->entry + at + (taddr)insn.rel;
	return code && insn.flow == INSN_JUMP
		       ? bsearch(&key, spots->items, spots->n, sizeof(key), by_place)
		       : NULL;
}

/*
 * What jumps on to a function of which the entry only can be traced (_setjmp does), is one as well.
 */
static void judge_jumps(const struct image *image, spot_vec *spots)
{
	struct spot *spot;

	vec_for_each (spots, spot) {
		const struct spot *next = goes_on_to(image, spots, spot);

		spot->entry_only |= next && next->entry_only;
	}
}

/* Leaves out the parts. */
static void drop_parts(const struct image *image, const struct refs *refs, spot_vec *spots)
{
	const addr_vec parts = { .items = image->parts.items, .n = image->parts.n };
	size_t n = 0;

	for (size_t i = 0; i < spots->n; i++) {
		const struct spot *spot = &spots->items[i];

		if (spot->name || xrefs_hold(&refs->calls, spot->entry) ||
		    !xrefs_hold(&parts, spot->entry))
			spots->items[n++] = *spot;
	}
	spots->n = n;
}

static int find_refs(const struct image *image, const spot_vec *spots, struct refs *ret,
		     struct uspl_err *err)
{
	code_pieces pieces = { 0 };
	const struct spot *spot;
	int rc = 0;

	vec_for_each (spots, spot) {
		struct code_piece *piece = vec_push(&pieces);

		if (!piece) {
			rc = uspl_fail_nomem(err);
			break;
		}
		*piece = (struct code_piece){ spot->entry, spot->size };
	}
	if (!rc)
		rc = refs_find(image, &pieces, ret, err);
	vec_release(&pieces);
	return rc;
}

static void judge_all(const struct image *image, const struct refs *refs, spot_vec *spots)
{
	struct special special;
	struct spot *spot;

	special_init(&special, image, spots);
	vec_for_each (spots, spot) {
		spot->why = special_why(&special, spot->name);
		if (spot->why)
			continue;
		if (!spot->name && !xrefs_hold(&refs->calls, spot->entry) &&
		    !is_like_function(image, refs, spot))
			spot->why = "it may be a part of another function";
		else
			judge(image, refs, spot);
		spot->entry_only = special_entry_only(&special, spot);
	}
}

int spots_find(const struct image *image, spot_vec *ret, struct uspl_err *err)
{
	spot_vec spots = { 0 };
	struct refs refs = { 0 };
	int rc = collect(image, &spots, err);

	if (!rc) {
		settle(image, &spots);
		rc = find_refs(image, &spots, &refs, err);
	}
	if (rc) {
		vec_release(&spots);
		return rc;
	}
	drop_parts(image, &refs, &spots);
	judge_all(image, &refs, &spots);
	judge_jumps(image, &spots);
	refs_release(&refs);
	*ret = spots;
	return 0;
}
