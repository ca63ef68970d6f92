// SPDX-License-Identifier: GPL-3.0-or-later
// inactive_stack.c - which of the return addresses on stacks in memory will be returned to
/*
 * A program that will go back to a stack has kept its stack pointer somewhere. So every word in
 * memory that points into a stack a little below one of the return addresses may be the key to it:
 *
 *   - with a program counter in the next word, it is a context;
 *   - a switch of the program's own (boost.context, libco) pushes the registers, and keeps nothing
 *     but the stack pointer: then a return address comes within a few words of where it points.
 *
 * From there the stack is unwound, and the return addresses that are met will be returned to; those
 * between them are left over from earlier calls. Where the unwind is lost, all that follow count.
 */

#include <string.h>

#include "base/log.h"
#include "proc/resident.h"
#include "safety/inactive_priv.h"

/* The largest stack that is allowed for; and how far all words count where an unwind is lost. */
#define REACH (1u << 20)
#define LOST_REACH 65536
/* How many registers a switch may push below the return address. */
#define PUSHED_MAX 10
/* A guessed stack pointer is believed after so many frames. */
#define FRAMES_BELIEVED 3
/* How far below an address on the stack it may be kept on the stack itself. */
#define FRAME_REACH 4096
#define KEYS_MAX 20000
#define TRIED_SLOTS 4096 /* a power of two */

/* All that a search for keys carries along. */
struct search {
	struct inactive_scan *scan;
	size_t keys;              /* stack pointers that were followed */
	taddr tried[TRIED_SLOTS]; /* by hash: many words point to one place */
	/* Of the unwind that is going on: how many frames, and the last one's program counter. */
	size_t frames;
	taddr pc;
};

bool inactive_follows_call(struct inactive_scan *scan, taddr pc)
{
	struct inactive_pc *seen = &scan->seen[(pc ^ pc >> 12) % INACTIVE_SEEN];
	uint8_t bytes[CONTEXT_CALL_MAX];

	if (seen->pc != pc)
		*seen = (struct inactive_pc){
			.pc = pc,
			.follows_call = proc_read_some(scan->proc, pc - sizeof(bytes), bytes,
						       sizeof(bytes)) == sizeof(bytes) &&
					context_ends_call(bytes, sizeof(bytes)),
		};
	return seen->follows_call;
}

/* The first word on a stack at addr or above. */
static struct inactive_word *word_from(const struct inactive *inactive, taddr addr)
{
	size_t low = vec_lower_bound(&inactive->words, it, it->place < addr);

	return low < inactive->words.n ? &inactive->words.items[low] : NULL;
}

/* A thread will return to pc from that place on a stack. */
static void mark(const struct inactive *inactive, taddr slot, taddr pc)
{
	struct inactive_word *word = word_from(inactive, slot), *end = vec_end(&inactive->words);

	for (; word && word < end && word->place == slot; word++)
		if (word->pc == pc) {
			word->live = true;
			word->doubted = false;
		}
}

static bool visit(void *ctx, const struct unwind_frame *frame)
{
	struct search *search = ctx;
	struct inactive *inactive = search->scan->inactive;
	const struct safety_range *range;

	search->pc = frame->pc;
	if (frame->is_call) {
		mark(inactive, context_return_slot(frame->sp), frame->pc);
	} else if (search->frames) {
		/* That frame made no call: a signal came. */
		range = safety_range_at(inactive->safety, frame->pc);
		if (range && !(range->entry_ok && frame->pc == range->start))
			inactive->interrupted = (struct inactive_word){ .place = frame->sp,
									.pc = frame->pc,
									.live = true };
	}
	search->frames++;
	return true;
}

/*
 * Whatever lies there may be returned to, for all that is known. But a thread in the tracer's
 * runtime was interrupted there by a signal, and hasn't left the stack by a call.
 */
static void mark_all(const struct inactive *inactive, taddr from, taddr to)
{
	struct inactive_word *word = word_from(inactive, from), *end = vec_end(&inactive->words);

	for (; word && word < end && word->place < to; word++)
		if (!word->live && !unwinder_is_runtime(inactive->safety->unwinder, word->pc)) {
			word->live = true;
			word->doubted = true;
		}
}

static void follow(struct search *search, const struct some_regs *regs, bool guessed)
{
	struct inactive *inactive = search->scan->inactive;
	const mapping_vec *maps = &search->scan->maps;
	const struct mapping *code, *stack;
	taddr sp, end;

	search->keys++;
	search->frames = 0;
	if (unwind(inactive->safety->unwinder, regs, visit, search, &sp) != UNWIND_LOST)
		return;
	if (guessed && search->frames < FRAMES_BELIEVED)
		return;
	/*
	 * From registers that are known the unwind has come to a return address that leads to no
	 * code: the first function of a stack that its program has made by hand.
	 */
	code = mappings_at(maps, search->pc);
	if (!guessed && !(code && code->exec))
		return;
	/* The stack goes no further than its mapping. */
	stack = mappings_at(maps, context_return_slot(sp));
	end = stack && stack->end < sp + LOST_REACH ? stack->end : sp + LOST_REACH;
	mark_all(inactive, sp, end);
}

/* The registers behind a call that returns to pc. */
static struct some_regs regs_at(taddr sp, taddr pc)
{
	struct some_regs regs = { .known = 1u << DWARF_SP | 1u << DWARF_PC };

	regs.value[DWARF_SP] = sp;
	/* What matters is the call, which may be a function's last instruction. */
	regs.value[DWARF_PC] = pc - 1;
	return regs;
}

/* True for a return address of code that may leave the stack: the tracer's runtime doesn't. */
static bool is_code(struct inactive_scan *scan, taddr pc)
{
	const struct mapping *map = mappings_at(&scan->maps, pc);

	return map && map->exec && inactive_follows_call(scan, pc) &&
	       !unwinder_is_runtime(scan->inactive->safety->unwinder, pc);
}

/*
 * Follows the context whose stack pointer is kept at the address; the program counter is in the
 * next word. False if that isn't a context.
 */
static bool follow_context(struct search *search, taddr sp_at, bool mangled)
{
	struct inactive_scan *scan = search->scan;
	taddr pc_at = sp_at - 8 * CONTEXT_SP;
	uint64_t words[CONTEXT_WORDS], slot;
	const uint64_t *pc = &words[-CONTEXT_FP];
	struct some_regs regs;

	if (proc_read_some(scan->proc, pc_at + 8 * CONTEXT_FP, words, sizeof(words)) !=
	    sizeof(words))
		return false;
	for (int i = CONTEXT_FP; mangled && i <= 0; i++)
		words[i - CONTEXT_FP] = context_demangle(words[i - CONTEXT_FP], scan->guard);
	if (!is_code(scan, *pc) || proc_read_some(scan->proc, context_return_slot(pc[CONTEXT_SP]),
						  &slot, sizeof(slot)) != sizeof(slot))
		return false;
	if (!mangled && slot != *pc)
		return false;
	regs = regs_at(pc[CONTEXT_SP], *pc);
	regs.value[DWARF_FP] = pc[CONTEXT_FP];
	regs.known |= 1u << DWARF_FP;
	/* A thread that goes on with the context finds there what the context says. */
	if (slot == *pc)
		mark(scan->inactive, context_return_slot(pc[CONTEXT_SP]), *pc);
	follow(search, &regs, false);
	return true;
}

/*
 * Adds the frame pointer, if it is among the n words that were pushed: the one that points into the
 * same stack, further up. It is pushed first by custom, since functions begin with that.
 */
static void find_frame_pointer(const uint64_t *words, size_t n, struct some_regs *regs)
{
	taddr sp = regs->value[DWARF_SP];

	while (n--)
		if (words[n] >= sp && words[n] - sp <= REACH) {
			regs->value[DWARF_FP] = words[n];
			regs->known |= 1u << DWARF_FP;
			return;
		}
}

/* Follows what may be the stack pointer of a switch that has pushed its registers. */
static void follow_pushed(struct search *search, taddr sp)
{
	uint64_t words[PUSHED_MAX];
	size_t n = proc_read_some(search->scan->proc, sp, words, sizeof(words)) / 8, i = 0;
	struct some_regs regs;

	while (i < n && !is_code(search->scan, words[i]))
		i++;
	if (i == n)
		return;
	/* The function that has called the switch may itself be the one in question. */
	mark(search->scan->inactive, sp + 8 * i, words[i]);
	regs = regs_at(sp + 8 * (i + 1), words[i]);
	find_frame_pointer(words, i, &regs);
	follow(search, &regs, true);
}

/* True if there is a word that could be on the stack whose pointer this is. */
static bool is_worth(const struct inactive *inactive, taddr sp)
{
	const struct inactive_word *word = word_from(inactive, sp);

	return sp % 8 == 0 && word && word->place - sp <= REACH && sp >= word->start;
}

static bool is_new(struct search *search, taddr sp)
{
	taddr *tried = &search->tried[(sp >> 3 ^ sp >> 15) & (TRIED_SLOTS - 1)];
	bool is_new = *tried != sp;

	*tried = sp;
	return is_new;
}

/* True if there is a return address so many words behind. */
static bool has_code(struct inactive_scan *scan, taddr at, int words)
{
	uint64_t word;

	return proc_read_some(scan->proc, at + 8 * words, &word, sizeof(word)) == sizeof(word) &&
	       is_code(scan, word);
}

/*
 * True for a word that is no stack pointer of a switch, as it seems: the frame pointer that a
 * function has saved, beside its own return address; a context's frame pointer; an address of
 * something on a stack that is kept a little below that, on the stack itself.
 */
static bool is_frames_own(struct inactive_scan *scan, const struct resident *piece, taddr at,
			  taddr sp)
{
	if (has_code(scan, at, 1) || has_code(scan, at, -CONTEXT_FP))
		return true;
	return at < sp && sp - at < FRAME_REACH && sp < piece->mapping->end &&
	       strcmp(piece->mapping->path, "[heap]");
}

static void try_key(struct search *search, const struct resident *piece, size_t i, bool mangled)
{
	taddr at = piece->at + 8 * i, sp = piece->words[i];

	if (mangled)
		sp = context_demangle(sp, search->scan->guard);
	if (!is_worth(search->scan->inactive, sp) || owners_memory_has(&search->scan->owned, at) ||
	    follow_context(search, at, mangled) || mangled)
		return;
	if (!is_frames_own(search->scan, piece, at, sp) && is_new(search, sp))
		follow_pushed(search, sp);
}

/* Where stack pointers of the words' stacks may point to. */
static struct context_query make_query(const struct inactive_scan *scan)
{
	const struct inactive *inactive = scan->inactive;
	taddr first = inactive->words.items[0].place;

	return (struct context_query){
		.start = first > REACH ? first - REACH : 0,
		.end = inactive->words.items[inactive->words.n - 1].place + 1,
		.guard = scan->guard,
		.mangled = scan->guard,
	};
}

static void search_piece(struct search *search, const struct resident *piece,
			 const struct context_query *query)
{
	size_t i = context_find(query, piece->words, piece->n, 0);

	for (; i < piece->n && search->keys < KEYS_MAX;
	     i = context_find(query, piece->words, piece->n, i + 1)) {
		uint64_t word = piece->words[i];

		try_key(search, piece, i, word < query->start || word >= query->end);
	}
}

int inactive_walk_stacks(struct inactive_scan *scan, struct uspl_err *err)
{
	struct inactive *inactive = scan->inactive;
	struct resident walk = { .proc = scan->proc,
				 .maps = &scan->maps,
				 .budget = inactive->budget };
	auto_free struct search *search = calloc(1, sizeof(*search));
	struct context_query query;
	int rc = 0;

	if (!inactive->words.n)
		return 0;
	if (!search)
		return uspl_fail_nomem(err);
	search->scan = scan;
	query = make_query(scan);
	rc = resident_open(&walk, err);
	while (!rc && search->keys < KEYS_MAX && resident_next(&walk))
		search_piece(search, &walk, &query);
	resident_close(&walk);
	if (search->keys == KEYS_MAX)
		mark_all(inactive, 0, UINT64_MAX);
	log_debug("stop", "%zu return addresses in memory, %zu stack pointers", inactive->words.n,
		  search->keys);
	return rc;
}
