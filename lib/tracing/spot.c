// SPDX-License-Identifier: GPL-3.0-or-later
// spot.c - the functions of a module, and how each can be traced
/*
 * A function whose first instructions are to be moved has to be looked at as a whole: a branch from inside that leads into the
 * moved bytes, behind the first one, would lead into the middle of the jump. All its instructions are decoded, one behind the other; a
 * function that can't be decoded to its end isn't touched. Jumps through tables lead to the cases of a switch, which don't lie in a function's
 * first five bytes: in front of them stand the bounds check and the jump itself.
 */

#include "tracing/spot.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"

/* Functions larger than this are not looked through. */
#define SIZE_MAX_MOVED (4u << 20)

/* They return more than once, or again after their frame is gone. */
static const char *const returns_twice[] = {
	"setjmp",  "_setjmp",    "__setjmp",     "sigsetjmp",   "__sigsetjmp",   "vfork",
	"__vfork", "getcontext", "__getcontext", "swapcontext", "__swapcontext", "savectx",
};

/*
 * They are entered by the kernel, by a stub, or on a new stack: what lies at their stack pointer isn't a return address.
 */
static const char *const not_called[] = {
	"_start",
	"_dl_start_user",
	"__restore_rt",
	"__restore",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"_dl_runtime_resolve",
	"_dl_runtime_resolve_fxsave",
	"_dl_runtime_resolve_xsave",
	"_dl_runtime_resolve_xsavec",
	"_dl_runtime_profile_avx",
	"_dl_runtime_profile_avx512",
	"_dl_runtime_profile_sse",
	"_dl_tlsdesc_return",
	"_dl_tlsdesc_undefweak",
	"_dl_tlsdesc_dynamic",
	"__morestack",
};

/* They look at the address that they return to, to know who asks. */
static const char *const looks_at_caller[] = {
	"dlopen",
	"dlsym",
	"dlvsym",
	"dlmopen",
	"dlclose",
	"dladdr",
	"__libc_dlopen_mode",
	"_dl_open",
	"mcount",
	"_mcount",
	"__fentry__",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_ForcedUnwind",
	"_Unwind_Backtrace",
	"__cxa_throw",
	"__cxa_rethrow",
};

static bool listed(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

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
	/* Of several names for one place the one with a size, then the first of the alphabet. */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

/* A part that the compiler has put elsewhere: it is jumped to. */
static bool is_part(const char *name)
{
	return name && strstr(name, ".cold");
}

static int add(spot_vec *spots, const char *name, taddr entry, uint64_t size, struct uspl_err *err)
{
	struct spot *spot = vec_push(spots);

	if (!spot)
		return uspl_fail_nomem(err);
	*spot = (struct spot){ .name = name, .entry = entry, .size = size };
	return 0;
}

typedef VEC(taddr) addr_vec;

static int by_value(const void *a, const void *b)
{
	const taddr *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Adds what the code in [from, to) calls. */
static int add_callees(const struct image *image, taddr from, taddr to, addr_vec *callees,
		       struct uspl_err *err)
{
	const uint8_t *code = image_bytes(image, from, to - from);
	struct insn insn;
	size_t at = 0;

	while (code && at < to - from &&
	       arch_native()->insn_decode(code + at, to - from - at, &insn)) {
		taddr *place;

		at += insn.len;
		if (insn.flow != INSN_CALL)
			continue;
		place = vec_push(callees);
		if (!place)
			return uspl_fail_nomem(err);
		*place = from + at + (taddr)insn.rel;
	}
	return 0;
}

/*
 * In a stripped program a start may be that of a function or of a part of one, to which others jump. What is called is a
 * function.
 */
static int collect_starts(const struct image *image, spot_vec *spots, struct uspl_err *err)
{
	addr_vec callees = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < image->starts.n; i++) {
		taddr start = image->starts.items[i];
		const struct image_seg *seg = image_seg_at(image, start);
		taddr end = seg ? seg->start + seg->len : start;

		if (i + 1 < image->starts.n && image->starts.items[i + 1] < end)
			end = image->starts.items[i + 1];
		if (is_code(image, start))
			rc = add_callees(image, start, end, &callees, err);
	}
	if (callees.n)
		qsort(callees.items, callees.n, sizeof(*callees.items), by_value);
	for (size_t i = 0; !rc && i < image->starts.n; i++)
		if (callees.n && bsearch(&image->starts.items[i], callees.items, callees.n,
					 sizeof(*callees.items), by_value))
			rc = add(spots, NULL, image->starts.items[i], 0, err);
	vec_release(&callees);
	return rc;
}

static int collect(const struct image *image, spot_vec *spots, struct uspl_err *err)
{
	const struct image_sym *sym;
	int rc = 0;

	vec_for_each (&image->syms, sym)
		if ((sym->type == STT_FUNC || sym->type == STT_GNU_IFUNC) &&
		    is_code(image, sym->addr)) {
			rc = add(spots, sym->name, sym->addr, sym->size, err);
			if (rc)
				return rc;
		}
	return collect_starts(image, spots, err);
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
 * Makes room for a jump of `want` bytes at the entry: spot->len and ->guard. Returns why it can't be done, NULL if it can.
 */
static const char *make_room(const uint8_t *code, size_t len, size_t want, struct spot *spot)
{
	struct insn insn = { 0 };
	size_t n = 0;

	while (n < want) {
		if (n >= len)
			return "it is too short";
		if (!arch_native()->insn_decode(code + n, len - n, &insn))
			return "its first instructions can't be decoded";
		n += insn.len;
		if (n < want && insn.flow != INSN_PLAIN && insn.flow != INSN_COND_JUMP &&
		    insn.flow != INSN_CALL && insn.flow != INSN_CALL_INDIRECT)
			return "it ends within its first bytes";
	}
	spot->len = (uint8_t)n;
	spot->guard = (uint8_t)n;
	/* What returns to the end of the moved bytes finds there what it expects. */
	if (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT)
		spot->guard--;
	return NULL;
}

/* Why nothing but the first byte may be jumped to in the first `len` bytes, or NULL if nothing does. */
static const char *branches_into(const uint8_t *code, size_t size, size_t len)
{
	size_t at = 0;

	while (at < size) {
		struct insn insn;
		int64_t to;

		/* What lies behind the last instruction is padding or data: nothing runs into it. */
		if (!arch_native()->insn_decode(code + at, size - at, &insn))
			return "its code can't be decoded";
		at += insn.len;
		if (insn.flow != INSN_JUMP && insn.flow != INSN_COND_JUMP && insn.flow != INSN_CALL)
			continue;
		to = (int64_t)at + insn.rel;
		if (to > 0 && to < (int64_t)len)
			return "a branch leads into its first bytes";
	}
	return NULL;
}

static void judge(const struct image *image, struct spot *spot)
{
	const uint8_t *code = image_bytes(image, spot->entry, spot->size);
	size_t want = arch_native()->jump_len, mark, free;

	if (!code || spot->size > SIZE_MAX_MOVED) {
		spot->why = code ? "it is too large" : "its code can't be read";
		return;
	}
	memcpy(spot->code, code, spot->size < SPOT_CODE ? spot->size : SPOT_CODE);
	/*
	 * The jump goes over the mark, which nothing checks while shadow stacks and the like are off: an
	 * update's jump goes to the very entry as well.
	 */
	mark = arch_native()->landing_mark(code, spot->size);
	free = nops(code + mark, spot->size - mark);
	if (free >= want && free < spot->size - mark) {
		spot->kind = SPOT_NOPS;
		spot->len = (uint8_t)(mark + free > 255 ? 255 : mark + free);
		spot->guard = (uint8_t)want;
		return;
	}
	spot->why = make_room(code, spot->size, want, spot);
	if (!spot->why)
		spot->why = branches_into(code, spot->size, spot->len);
	if (!spot->why)
		spot->kind = SPOT_MOVED;
}

int spots_find(const struct image *image, spot_vec *ret, struct uspl_err *err)
{
	spot_vec spots = { 0 };
	struct spot *spot;
	int rc = collect(image, &spots, err);

	if (rc) {
		vec_release(&spots);
		return rc;
	}
	settle(image, &spots);
	vec_for_each (&spots, spot) {
		if (listed(not_called, ARRAY_SIZE(not_called), spot->name))
			spot->why = "it isn't entered by a call";
		else if (is_part(spot->name))
			spot->why = "it is a part of another function";
		else
			judge(image, spot);
		spot->entry_only = listed(returns_twice, ARRAY_SIZE(returns_twice), spot->name) ||
				   listed(looks_at_caller, ARRAY_SIZE(looks_at_caller), spot->name);
	}
	*ret = spots;
	return 0;
}
