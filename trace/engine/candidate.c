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

/*
 * Of several names for one place the one with a size, then the last of the alphabet, which begins
 * with no underscore (as image_sym_at has it).
 */
static bool is_better(const struct image_sym *sym, const struct candidate *than)
{
	if (!sym->size != !than->size)
		return sym->size;
	return !than->name || strcmp(sym->name, than->name) > 0;
}

static int by_place(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* Symbols and starts, which are sorted, become one list; of each place there is one. */
static int collect(const struct image *image, candidate_vec *candidates, struct uspl_err *err)
{
	size_t i = 0, j = 0;

	while (i < image->syms.n || j < image->starts.n) {
		const struct image_sym *sym = i < image->syms.n ? &image->syms.items[i] : NULL;
		struct candidate *last =
			candidates->n ? &candidates->items[candidates->n - 1] : NULL;
		const struct image_seg *seg;
		taddr entry;

		if (sym && j < image->starts.n && image->starts.items[j] < sym->addr)
			sym = NULL;
		entry = sym ? sym->addr : image->starts.items[j];
		i += sym != NULL;
		j += sym == NULL;
		seg = image_seg_at(image, entry);
		if ((sym && sym->type != STT_FUNC && sym->type != STT_GNU_IFUNC) || !seg ||
		    !seg->exec || !seg->bytes)
			continue;
		if (last && last->entry == entry && !(sym && is_better(sym, last)))
			continue;
		if (!last || last->entry != entry)
			last = vec_push(candidates);
		if (!last)
			return uspl_fail_nomem(err);
		*last = (struct candidate){ .entry = entry };
		if (sym) {
			last->name = sym->name;
			last->size = sym->size;
		}
	}
	return 0;
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

/*
 * Makes room for a jump of `want` bytes at the entry: candidate->len and ->guard. Returns why it
 * can't be done, NULL if it can.
 */
static const char *make_room(const uint8_t *code, size_t len, size_t want,
			     struct candidate *candidate)
{
	uint8_t moved[INSN_MOVED_MAX];
	struct insn insn = { 0 };
	size_t n = 0, n_insns = 0, n_moved = 0, moved_len;

	while (n < want) {
		if (n >= len)
			return "it is too short";
		if (!arch_native()->insn_skim(code + n, len - n, &insn))
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
		n_moved += moved_len;
		n_insns++;
		if (n < want && (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
			return "a call returns into its first bytes";
		if (n < want && insn.flow != INSN_PLAIN && insn.flow != INSN_COND_JUMP)
			return "it ends within its first bytes";
	}
	candidate->len = (uint8_t)n;
	candidate->moved = (uint8_t)n_moved;
	candidate->guard = n_insns > 1 ? (uint8_t)n : 1;
	/* A return to the end of the moved bytes finds there what it expects. */
	if (n_insns > 1 && (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT))
		candidate->guard--;
	return NULL;
}

/* What its code alone tells; what other code has to do with it is seen later. */
static void judge(const struct image *image, struct candidate *candidate)
{
	const size_t want = arch_native()->jump_len;
	const uint8_t *code = candidate->size > SIZE_MAX_MOVED
				      ? NULL
				      : image_bytes(image, candidate->entry, candidate->size);
	struct insn insn;
	size_t mark, free;

	if (!code) {
		candidate->why = candidate->size > SIZE_MAX_MOVED ? "it is too large"
								  : "its code can't be read";
		return;
	}
	memcpy(candidate->code, code,
	       candidate->size < CANDIDATE_CODE ? candidate->size : CANDIDATE_CODE);
	candidate->entry_only = arch_native()->minds_return(code, candidate->size);
	/*
	 * The jump goes over the mark, which nothing checks while shadow stacks and the like are
	 * off: an update's jump goes to the very entry as well.
	 */
	mark = arch_native()->landing_mark(code, candidate->size);
	free = room(code + mark, candidate->size - mark);
	if (free >= want && free < candidate->size - mark) {
		candidate->kind = CANDIDATE_NOPS;
		candidate->len = (uint8_t)(mark + free > 255 ? 255 : mark + free);
		candidate->guard = (uint8_t)want;
		if (!mark && arch_native()->insn_skim(code, candidate->size, &insn) &&
		    insn.len >= want)
			candidate->guard = 1;
		return;
	}
	candidate->why = make_room(code, candidate->size, want, candidate);
	if (!candidate->why)
		candidate->kind = CANDIDATE_MOVED;
}

/* What jumps on to something else before it does anything but compute. */
struct jump_on {
	taddr from, to;
};

typedef VEC(struct jump_on) jump_on_vec;

/* Goes through the code once, upwards: what it refers to, what can be done with each function. */
static int look_through(const struct image *image, candidate_vec *candidates, struct xrefs *xrefs,
			jump_on_vec *jumps, struct uspl_err *err)
{
	taddr from = candidates->n ? candidates->items[0].entry : 0;

	for (size_t i = 0; i < candidates->n; i++) {
		struct candidate *candidate = &candidates->items[i];
		struct jump_on *jump;
		taddr to;

		xrefs_add_code(xrefs, image, i, candidate->size, &to);
		judge(image, candidate);
		image_forget(image, &from, candidate->entry);
		if (!to)
			continue;
		jump = vec_push(jumps);
		if (!jump)
			return uspl_fail_nomem(err);
		*jump = (struct jump_on){ candidate->entry, to };
	}
	xrefs_add_data(xrefs, image);
	return 0;
}

/* True if a beginning without a name can be traced as if it were called. */
static bool is_like_function(const struct image *image, const struct xrefs *xrefs,
			     const struct candidate *candidate)
{
	const uint8_t *code;

	if (xrefs_have(xrefs, candidate->entry, XREF_TAKEN) ||
	    arch_native()->landing_mark(candidate->code, sizeof(candidate->code)))
		return true;
	if (!xrefs_have(xrefs, candidate->entry, XREF_JUMP) || candidate->size > SIZE_MAX_MOVED)
		return false;
	code = image_bytes(image, candidate->entry, candidate->size);
	return code && arch_native()->ignores_flags(code, candidate->size);
}

static void reject(struct candidate *candidate, const char *why)
{
	candidate->kind = CANDIDATE_NONE;
	candidate->why = why;
}

/* What its name, and what other code has to do with it, leave of what the code would allow. */
static void settle_kind(const struct image *image, const struct xrefs *xrefs,
			const struct untraceable *untraceable, struct candidate *candidate)
{
	const char *why = untraceable_why(untraceable, candidate->name);

	if (why) {
		reject(candidate, why);
		candidate->entry_only = false;
		return;
	}
	candidate->entry_only |= untraceable_entry_only(untraceable, candidate);
	if (!candidate->name && !xrefs_have(xrefs, candidate->entry, XREF_CALL) &&
	    !is_like_function(image, xrefs, candidate)) {
		reject(candidate, "it may be a part of another function");
		return;
	}
	if (candidate->kind != CANDIDATE_MOVED)
		return;
	if (xrefs_have(xrefs, candidate->entry, XREF_UNKNOWN))
		reject(candidate, "its code can't be decoded");
	else if (xrefs_branch_behind(xrefs, candidate->entry, candidate->len))
		reject(candidate, "a branch leads into its first bytes");
}

static struct candidate *find(const candidate_vec *candidates, taddr entry)
{
	const struct candidate key = { .entry = entry };

	return candidates->n
		       ? bsearch(&key, candidates->items, candidates->n, sizeof(key), by_place)
		       : NULL;
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

int candidates_find(const struct image *image, candidate_vec *ret, struct uspl_err *err)
{
	auto_vec candidate_vec candidates = { 0 };
	auto_vec addr_vec starts = { 0 };
	auto_vec jump_on_vec jumps = { 0 };
	auto_xrefs struct xrefs xrefs = { 0 };
	struct untraceable untraceable;
	const struct jump_on *jump;
	struct candidate *candidate;
	int rc = collect(image, &candidates, err);

	if (rc)
		return rc;
	vec_for_each (&candidates, candidate) {
		const struct image_seg *seg = image_seg_at(image, candidate->entry);
		taddr end = seg->start + seg->len, *start = vec_push(&starts);

		if (!start)
			return uspl_fail_nomem(err);
		*start = candidate->entry;
		/* Those without a size get the room up to the next. */
		if (starts.n < candidates.n && candidate[1].entry < end)
			end = candidate[1].entry;
		if (!candidate->size || candidate->size > end - candidate->entry)
			candidate->size = end - candidate->entry;
	}
	rc = xrefs_init(&xrefs, &starts, err);
	if (rc)
		return rc;
	rc = look_through(image, &candidates, &xrefs, &jumps, err);
	if (rc)
		return rc;
	drop_parts(image, &xrefs, &candidates);
	untraceable_init(&untraceable, image, &candidates);
	vec_for_each (&candidates, candidate)
		settle_kind(image, &xrefs, &untraceable, candidate);
	/* What jumps on to a function whose entry only can be traced, as _setjmp does. */
	vec_for_each (&jumps, jump) {
		const struct candidate *next = find(&candidates, jump->to);

		candidate = find(&candidates, jump->from);
		if (candidate && next)
			candidate->entry_only |= next->entry_only;
	}
	*ret = candidates;
	candidates = (candidate_vec){ 0 };
	return 0;
}
