// SPDX-License-Identifier: GPL-3.0-or-later
// safety.c - may this thread go on with other code?

#include "safety/safety.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "proc/pagemap.h"
#include "record/owners.h"

#define SCAN_CHUNK 16384
/* How many signal frames a thread may have one within the other. */
#define SIGNALS_MAX 8
/* The runtime of the tracer pushes no more than that above the return address of a traced call. */
#define SHADOW_WORDS 32
/* How long a thread that runs is waited for to be seen. */
#define REHEARSAL_NS 500000ll
/* What the kernel takes for a signal stack at least, on this processor and on others. */
#define MINSIGSTKSZ_KERNEL 2048

int safety_add(struct safety *safety, const char *name, taddr start, uint64_t size, bool entry_ok,
	       struct uspl_err *err)
{
	struct safety_range *range = vec_push(&safety->ranges);

	if (!range)
		return uspl_fail_nomem(err);
	*range = (struct safety_range){ start, start + size, name, entry_ok };
	return 0;
}

int safety_add_left(struct safety *safety, const module_vec *modules, inject_left_vec *ret_left,
		    struct uspl_err *err)
{
	const struct inject_left *left;
	int rc = agent_left_find(safety->proc, modules, ret_left, err);

	if (rc)
		return rc;
	vec_for_each (ret_left, left) {
		rc = safety_add(safety, "the agent of an earlier command", left->addr, left->len,
				false, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct safety_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Of a hundred thousand sites the ranges come in order. */
void safety_seal(struct safety *safety)
{
	struct safety_range *ranges = safety->ranges.items;

	for (size_t i = 1; i < safety->ranges.n; i++)
		if (by_start(&ranges[i - 1], &ranges[i]) > 0) {
			qsort(ranges, safety->ranges.n, sizeof(*ranges), by_start);
			return;
		}
}

void safety_release(struct safety *safety)
{
	vec_release(&safety->ranges);
}

const struct safety_range *safety_range_at(const struct safety *safety, taddr addr)
{
	size_t low = vec_lower_bound(&safety->ranges, it, it->end <= addr);

	if (low == safety->ranges.n || safety->ranges.items[low].start > addr)
		return NULL;
	return &safety->ranges.items[low];
}

/* One thread's check while it goes on. */
struct check {
	struct safety *safety;
	struct safety_finding *finding;
	bool in_way; /* the frame visited last is in the way */
	taddr pc;    /* of that frame */
	bool near;   /* no frame from the outermost that is in the way up to it was large */
	int depth;   /* how many signal frames were found by their words */
};

/* Makes room in a chain that is full before anything was found: the innermost frame stays. */
static void forget_inner(struct safety_finding *finding)
{
	const size_t half = SAFETY_CHAIN_MAX / 2;

	memmove(finding->chain + 1, finding->chain + half,
		(SAFETY_CHAIN_MAX - half) * sizeof(taddr));
	finding->n_chain = SAFETY_CHAIN_MAX - half + 1;
}

/* The call chain is noted to its end even after a hit: the message shows the callers. */
static bool visit_frame(void *ctx, const struct unwind_frame *frame)
{
	struct check *check = ctx;
	struct safety_finding *finding = check->finding;
	const struct safety_range *range =
		safety_range_at(check->safety, frame->is_call ? frame->pc - 1 : frame->pc);

	if (range && range->entry_ok && !frame->is_call && frame->pc == range->start)
		range = NULL;
	if (check->in_way) {
		finding->return_pc = frame->pc;
		finding->return_sp = finding->near_sp = frame->sp;
		check->near = true;
		finding->in_handler = false;
	} else if (check->near) {
		check->near = frame->is_call && frame->sp > finding->near_sp &&
			      frame->sp - finding->near_sp < MINSIGSTKSZ_KERNEL;
		if (check->near)
			finding->near_sp = frame->sp;
	}
	finding->in_handler |= finding->return_sp && !frame->is_call;
	check->in_way = range;
	check->pc = frame->pc;
	if (!finding->function && finding->n_chain == SAFETY_CHAIN_MAX)
		forget_inner(finding);
	if (finding->n_chain < SAFETY_CHAIN_MAX)
		finding->chain[finding->n_chain++] = frame->is_call ? frame->pc - 1 : frame->pc;
	if (range)
		finding->outermost = finding->n_chain - 1;
	if (!range || finding->function)
		return true;
	finding->function = range->name;
	finding->running = !frame->is_call;
	finding->proven = true;
	finding->at = finding->n_chain - 1;
	return true;
}

static bool follow(struct check *check, const struct some_regs *regs);

static void note_word(struct safety_finding *finding, const struct safety_range *range, taddr pc)
{
	finding->function = range->name;
	if (finding->n_chain == SAFETY_CHAIN_MAX)
		forget_inner(finding);
	finding->at = finding->n_chain;
	finding->chain[finding->n_chain++] = pc;
}

/*
 * A return address that leads out of a signal handler: behind it may be a signal frame, in which
 * all registers are saved. What was interrupted is followed from there, which matters most where it
 * lies on another stack than the handler.
 */
static bool follow_signal(struct check *check, taddr pc, taddr sp)
{
	const struct some_regs regs = {
		.value = { [DWARF_SP] = sp, [DWARF_PC] = pc },
		.known = 1u << DWARF_SP | 1u << DWARF_PC,
	};

	check->finding->unreadable = ++check->depth > SIGNALS_MAX;
	return !check->finding->unreadable && follow(check, &regs);
}

/* Checks what may be a return address at `at`, and what hides behind it. */
static bool check_return(struct check *check, taddr at, uint64_t word)
{
	for (int i = 0; word && i < OWNERS_HIDDEN_MAX; i++) {
		const struct safety_range *range = safety_range_at(check->safety, word - 1);

		if (range) {
			note_word(check->finding, range, word - 1);
			return false;
		}
		word = unwinder_shadowed(check->safety->unwinder, at, word);
	}
	return true;
}

/* A word of the stack, taken for a return address. */
static bool check_word(struct check *check, taddr at, uint64_t word)
{
	if (!check_return(check, at, word))
		return false;
	return !unwinder_leaves_signal(check->safety->unwinder, word) ||
	       follow_signal(check, word, at + sizeof(word));
}

/* Where the mapping ends that a stack pointer leads to; 0 if no stack can be there. */
static taddr stack_end(const mapping_vec *maps, taddr sp)
{
	const struct mapping *map = mappings_at(maps, sp);

	return map && map->read && map->write ? map->end : 0;
}

/*
 * The words of [at, end), at most to where they can't be read: *ret_at. False if one is in the way.
 */
static bool scan_range(struct check *check, taddr at, taddr end, taddr *ret_at)
{
	uint64_t words[SCAN_CHUNK / 8];
	size_t want = sizeof(words), got = want;

	for (; at < end && got == want; at += got) {
		want = end - at < sizeof(words) ? end - at : sizeof(words);
		got = proc_read_some(check->safety->proc, at, words, want);
		for (size_t i = 0; i < got / 8; i++)
			if (!check_word(check, at + i * 8, words[i]))
				return false;
	}
	*ret_at = at;
	return true;
}

/*
 * Takes every word from sp to the end of its stack for a return address. That is the end of its
 * mapping, or, where stacks lie side by side in one mapping, the guard region of the next one. A
 * stack may be newer than the mappings that are known, or have grown or gone since.
 */
static bool scan_words(struct check *check, taddr sp)
{
	const struct proc *proc = check->safety->proc;
	auto_close int pagemap = -1;
	auto_mappings mapping_vec now = { 0 };
	taddr at = sp & ~7ull, end = stack_end(&proc->maps, sp);

	if (!scan_range(check, at, end, &at))
		return false;
	if (end && at >= end)
		return true;
	pagemap = pagemap_open(proc);
	if (end && pagemap_is_guard(pagemap, proc, at))
		return true;
	end = proc_read_maps(proc, &now, NULL) == 0 ? stack_end(&now, sp) : 0;
	if (!scan_range(check, at, end, &at))
		return false;
	check->finding->unreadable = !end || (at < end && !pagemap_is_guard(pagemap, proc, at));
	return !check->finding->unreadable;
}

/* A thread that is in the tracer's own code may return to what only the shadow has. */
static bool check_shadow(struct check *check, taddr sp)
{
	taddr pcs[SHADOW_WORDS];
	size_t n =
		unwinder_shadow_near(check->safety->unwinder, check->pc, sp, pcs, ARRAY_SIZE(pcs));

	for (size_t i = 0; i < n; i++)
		if (!check_return(check, (sp & ~7ull) + 8 * i, pcs[i]))
			return false;
	return true;
}

/* From these registers outwards: by unwinding, and where that is lost, by the words that remain. */
static bool follow(struct check *check, const struct some_regs *regs)
{
	taddr sp;
	enum unwind_end end = unwind(check->safety->unwinder, regs, visit_frame, check, &sp);

	check->finding->complete = end == UNWIND_COMPLETE;
	check->finding->whole =
		end == UNWIND_COMPLETE && check->finding->n_chain < SAFETY_CHAIN_MAX;
	if (check->finding->function)
		return false;
	if (end == UNWIND_LOST && unwinder_has_chosen(check->safety->unwinder, check->pc)) {
		check->finding->unreadable = true;
		return false;
	}
	return end == UNWIND_COMPLETE || (check_shadow(check, sp) && scan_words(check, sp));
}

static bool check_thread(struct safety *safety, pid_t tid, const struct some_regs *regs,
			 struct safety_finding *finding)
{
	struct check check = { .safety = safety, .finding = finding };

	*finding = (struct safety_finding){ .tid = tid };
	return follow(&check, regs);
}

bool safety_check(struct safety *safety, const struct thread *thread,
		  struct safety_finding *finding)
{
	struct some_regs regs;

	regs_to_dwarf(&thread->regs, &regs);
	return check_thread(safety, thread->tid, &regs, finding);
}

bool safety_check_blocked(struct safety *safety, const struct blocked_thread *thread,
			  struct safety_finding *finding)
{
	return check_thread(safety, thread->tid, &thread->regs, finding);
}

bool safety_check_sample(struct safety *safety, pid_t tid,
			 const struct thread_sample *thread_sample, struct safety_finding *finding)
{
	struct check check = { .safety = safety, .finding = finding };
	struct unwinder *unwinder = safety->unwinder;
	enum unwind_end end;
	bool kept;
	taddr sp;

	*finding = (struct safety_finding){ .tid = tid };
	unwinder_lend_stack(unwinder, thread_sample->regs.value[DWARF_SP], thread_sample->stack,
			    thread_sample->stack_len);
	end = unwind(unwinder, &thread_sample->regs, visit_frame, &check, &sp);
	kept = unwinder_kept_to_copy(unwinder);
	unwinder_lend_stack(unwinder, 0, NULL, 0);
	finding->complete = end == UNWIND_COMPLETE;
	finding->whole = end == UNWIND_COMPLETE && finding->n_chain < SAFETY_CHAIN_MAX;
	finding->proven &= kept;
	return end == UNWIND_COMPLETE && kept && !finding->function;
}

bool safety_warm_unwinder(struct safety *safety, struct sampler *sampler)
{
	struct safety_finding unused;
	struct thread_sample seen;

	if (!sampler_await(sampler, clock_now_ns() + REHEARSAL_NS, &seen))
		return false;
	safety_check_sample(safety, sampler->tid, &seen, &unused);
	return true;
}
