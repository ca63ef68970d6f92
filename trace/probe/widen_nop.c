// SPDX-License-Identifier: GPL-3.0-or-later
// widen_nop.c - room for a jump around a NOP of one byte, in the middle of a function
/*
 * The jump takes five bytes: the NOP and instructions behind it, before it, or both. They are moved
 * out of line. A branch behind the first byte of these would lead into the middle of the jump. So
 * the tool looks for everything that a compiler makes and that could lead there, in all of the
 * module, since a function's parts may lie apart:
 *
 *     direct branches          of all code
 *     addresses                words in data: tables of computed gotos, and of switches in programs
 *                              that aren't position independent
 *     distances                tables of switches: words that count from the table's beginning,
 *                              which some code takes the address of
 *
 * Landing punned trampolines of exceptions are entered by the unwinder only, with the exception in
 * registers: compilers make no code that runs into one from above.
 */

#include "trace/probe/widen_nop.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/trampoline.h"

#define TABLE_MAX 4096 /* entries of a table that are looked at */
#define NEAR 24        /* bytes before and behind a NOP that may matter */

typedef VEC(taddr) addr_vec;

/* What is known of the bytes around a NOP, each by its distance from `from`. */
struct nearby {
	taddr nop, from;
	struct marker *marker;
	const char *led[2 * NEAR]; /* what leads there, NULL if nothing does */
	bool start[2 * NEAR];      /* an instruction begins there */
};

struct search {
	const struct image *image;
	VEC(struct nearby) places; /* by address */
	addr_vec tables;           /* what may be one */
};

static void release(struct search *search)
{
	vec_release(&search->places);
	vec_release(&search->tables);
}

DEFINE_AUTO_RELEASE(search, struct search, release)
#define auto_search __attribute__((cleanup(cleanup_search_)))

static int by_nop(const void *a, const void *b)
{
	const struct nearby *x = a, *y = b;

	return x->nop < y->nop ? -1 : x->nop > y->nop;
}

static int by_value(const void *a, const void *b)
{
	const taddr *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The first place whose neighbourhood ends behind addr. */
static struct nearby *first_near(struct search *search, taddr addr)
{
	size_t low = vec_lower_bound(&search->places, it, it->from + 2 * NEAR <= addr);

	return low < search->places.n ? &search->places.items[low] : vec_end(&search->places);
}

/* Something leads to addr. */
static void meet(struct search *search, taddr addr, const char *why)
{
	struct nearby *end = vec_end(&search->places);

	for (struct nearby *at = first_near(search, addr); at < end && at->from <= addr; at++)
		at->led[addr - at->from] = why;
}

/* Notes an address that code takes, if it may be that of a table. */
static int note_table(struct search *search, taddr addr, struct uspl_err *err)
{
	const struct image_seg *seg = image_seg_at(search->image, addr);
	taddr *place;

	if (!seg || seg->exec || seg->write || !seg->bytes || addr % sizeof(int32_t))
		return 0;
	place = vec_push(&search->tables);
	if (!place)
		return uspl_fail_nomem(err);
	*place = addr;
	return 0;
}

/* All code in [from, to), from the first instruction on. */
static int sweep(struct search *search, taddr from, taddr to, struct uspl_err *err)
{
	const uint8_t *code = image_bytes(search->image, from, to - from);
	struct nearby *place, *end;
	struct insn insn;
	size_t at = 0;
	int rc = 0;

	while (code && at < to - from) {
		if (!arch_native()->insn_decode(code + at, to - from - at, &insn)) {
			at++;
			continue;
		}
		end = vec_end(&search->places);
		for (place = first_near(search, from + at); place < end && place->from <= from + at;
		     place++)
			place->start[from + at - place->from] = true;
		at += insn.len;
		if (insn.rel_size && insn.flow != INSN_CALL)
			meet(search, from + at + (taddr)insn.rel, "a branch leads behind it");
		if (insn.pc_relative_mem && insn.disp_size == sizeof(int32_t)) {
			int32_t disp;

			memcpy(&disp, code + at - insn.len + insn.disp_off, sizeof(disp));
			rc = note_table(search, from + at + (taddr)(int64_t)disp, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int add_start(addr_vec *starts, const struct image_seg *seg, taddr addr,
		     struct uspl_err *err)
{
	taddr *place;

	if (addr < seg->start || addr >= seg->start + seg->len)
		return 0;
	place = vec_push(starts);
	if (!place)
		return uspl_fail_nomem(err);
	*place = addr;
	return 0;
}

/* Where functions begin: decoding starts anew there, so that data between them does no harm. */
static int find_starts(const struct image *image, const struct image_seg *seg, addr_vec *starts,
		       struct uspl_err *err)
{
	const struct image_sym *sym;
	int rc;

	vec_for_each (&image->syms, sym) {
		if (sym->type != STT_FUNC && sym->type != STT_GNU_IFUNC)
			continue;
		rc = add_start(starts, seg, sym->addr, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < image->starts.n; i++) {
		rc = add_start(starts, seg, image->starts.items[i], err);
		if (rc)
			return rc;
	}
	if (starts->n)
		qsort(starts->items, starts->n, sizeof(*starts->items), by_value);
	return 0;
}

static int sweep_segment(struct search *search, const struct image_seg *seg, struct uspl_err *err)
{
	auto_vec addr_vec starts = { 0 };
	int rc = find_starts(search->image, seg, &starts, err);
	taddr from = seg->start, to;

	if (rc)
		return rc;
	for (size_t i = 0; i <= starts.n; i++) {
		to = i < starts.n ? starts.items[i] : seg->start + seg->len;
		if (to > from)
			rc = sweep(search, from, to, err);
		from = to;
		if (rc)
			return rc;
	}
	return 0;
}

/* Distances from the beginning of a table, as long as they lead to code. */
static void look_at_table(struct search *search, taddr table)
{
	for (size_t i = 0; i < TABLE_MAX; i++) {
		const uint8_t *bytes =
			image_bytes(search->image, table + i * sizeof(int32_t), sizeof(int32_t));
		const struct image_seg *seg;
		int32_t distance;
		taddr to;

		if (!bytes)
			return;
		memcpy(&distance, bytes, sizeof(distance));
		to = table + (taddr)(int64_t)distance;
		seg = image_seg_at(search->image, to);
		if (!seg || !seg->exec)
			return;
		meet(search, to, "a table leads behind it");
	}
}

/* Everything that could lead somewhere. */
static int look_at_all(struct search *search, struct uspl_err *err)
{
	const struct image_seg *seg;
	uint64_t word;
	int rc;

	vec_for_each (&search->image->segs, seg) {
		if (!seg->exec || !seg->bytes)
			continue;
		rc = sweep_segment(search, seg, err);
		if (rc)
			return rc;
	}
	if (search->tables.n)
		qsort(search->tables.items, search->tables.n, sizeof(taddr), by_value);
	for (size_t i = 0; i < search->tables.n; i++)
		if (!i || search->tables.items[i] != search->tables.items[i - 1])
			look_at_table(search, search->tables.items[i]);
	/* Words of data that are addresses. */
	vec_for_each (&search->image->segs, seg)
		for (size_t at = 0; !seg->exec && seg->bytes && at + sizeof(word) <= seg->len;
		     at += sizeof(word)) {
			memcpy(&word, seg->bytes + at, sizeof(word));
			meet(search, word, "an address behind it is stored");
		}
	return 0;
}

/* The bytes that a jump could take: whole instructions, the NOP among them. */
struct span {
	taddr start;
	size_t len, guard;
	const char *why; /* it can't; NULL if it can */
};

/* One more instruction at the room's end. Returns why it can't be, NULL if it can. */
static const char *extend(const struct nearby *near, const uint8_t *code, size_t have,
			  struct span *span, bool *ended)
{
	size_t want = arch_native()->jump_len, n = span->len, len;
	bool is_nop = span->start + n == near->nop;
	uint8_t moved[INSN_MOVED_MAX];
	struct insn insn;

	if (n >= have || !arch_native()->insn_decode(code + n, have - n, &insn) ||
	    (!is_nop &&
	     insn_move(span->start + n, code + n, have - n, span->start, moved, &len, NULL) < 0))
		return "an instruction beside it can't be moved";
	/* A thread that waits there comes back to its beginning. */
	if (insn.is_syscall)
		return "a system call is beside it";
	if (*ended && !insn.is_nop)
		return "the code ends behind it";
	if (n && near->led[span->start + n - near->from])
		return near->led[span->start + n - near->from];
	span->len += insn.len;
	span->guard = span->len;
	if (insn.flow != INSN_PLAIN && insn.flow != INSN_COND_JUMP && span->start + n < near->nop)
		return "an instruction beside it can't be moved";
	if (insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT) {
		/* A return to the room's end finds there what it expects. */
		span->guard--;
		return span->len < want ? "a call beside it returns too early" : NULL;
	}
	*ended |= insn.flow == INSN_RETURN || insn.flow == INSN_JUMP ||
		  insn.flow == INSN_JUMP_INDIRECT || insn.flow == INSN_TRAP;
	return NULL;
}

/* The room that begins at `start`, an instruction at or before the NOP. */
static struct span span_from(const struct search *search, const struct nearby *near, taddr start)
{
	const uint8_t *code = image_bytes(search->image, start, USPL_MARK_OLD_MAX);
	struct span span = { .start = start };
	bool ended = false;

	if (!code)
		span.why = "its code can't be read";
	while (!span.why &&
	       (span.len < arch_native()->jump_len || span.start + span.len <= near->nop))
		span.why = extend(near, code, USPL_MARK_OLD_MAX, &span, &ended);
	return span;
}

/* True if the room reaches into that of the place before, or over another NOP. */
static bool is_taken(const struct search *search, const struct nearby *near,
		     const struct span *span)
{
	const struct nearby *other;

	vec_for_each (&search->places, other) {
		if (other->nop == near->nop)
			continue;
		if (other->nop >= span->start && other->nop < span->start + span->len)
			return true;
		if (other->nop < near->nop && !other->marker->why[0] &&
		    other->marker->site + other->marker->old_len > span->start)
			return true;
	}
	return false;
}

/* The first room that will do: from the NOP on, else from an instruction before it. */
static void choose(const struct search *search, struct nearby *near)
{
	const uint8_t *nop = image_bytes(search->image, near->nop, 1);
	struct marker *marker = near->marker;
	const char *why = NULL;
	struct insn insn;

	if (!nop || !arch_native()->insn_decode(nop, 1, &insn) || !insn.is_nop)
		why = "there is no NOP at its place";
	for (size_t back = 0; back < NEAR && !(why && !back); back++) {
		struct span span;

		if (back && !(near->start[NEAR - back] && near->start[NEAR]))
			continue;
		span = span_from(search, near, near->nop - back);
		if (!span.why && is_taken(search, near, &span))
			span.why = "another probe lies right beside it";
		if (!span.why) {
			marker->site = span.start;
			marker->before = (uint8_t)(near->nop - span.start);
			marker->skip = 1;
			marker->old_len = (uint8_t)span.len;
			marker->guard = (uint8_t)span.guard;
			memcpy(marker->old, image_bytes(search->image, span.start, span.len),
			       span.len);
			return;
		}
		why = why ? why : span.why;
		if (span.start + arch_native()->jump_len <= near->nop)
			break;
	}
	if (!marker->why[0])
		snprintf(marker->why, sizeof(marker->why), "%s", why);
}

int widen_nops(const struct image *image, struct marker *items, size_t n, struct uspl_err *err)
{
	auto_search struct search search = { .image = image };
	struct nearby *near;
	int rc;

	for (size_t i = 0; i < n; i++) {
		near = vec_push(&search.places);
		if (!near)
			return uspl_fail_nomem(err);
		*near = (struct nearby){ .nop = items[i].site,
					 .from = items[i].site - NEAR,
					 .marker = &items[i] };
	}
	if (!search.places.n)
		return 0;
	qsort(search.places.items, search.places.n, sizeof(*search.places.items), by_nop);
	rc = look_at_all(&search, err);
	if (rc)
		return rc;
	vec_for_each (&search.places, near)
		choose(&search, near);
	return 0;
}
