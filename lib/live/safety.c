// SPDX-License-Identifier: GPL-3.0-or-later
// safety.c - may this thread go on with other code?

#include "live/safety.h"

#include <string.h>

#define SCAN_CHUNK 65536

int safety_add(struct safety *safety, const char *name, taddr start, uint64_t size, bool entry_ok,
	       struct uspl_err *err)
{
	struct safety_range *range = vec_push(&safety->ranges);

	if (!range)
		return uspl_fail_nomem(err);
	*range = (struct safety_range){ start, start + size, name, entry_ok };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct safety_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void safety_seal(struct safety *safety)
{
	if (safety->ranges.n)
		qsort(safety->ranges.items, safety->ranges.n, sizeof(*safety->ranges.items),
		      by_start);
}

void safety_release(struct safety *safety)
{
	vec_release(&safety->ranges);
}

static const struct safety_range *range_at(const struct safety *safety, taddr addr)
{
	size_t low = 0, high = safety->ranges.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (safety->ranges.items[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == safety->ranges.n || safety->ranges.items[low].start > addr)
		return NULL;
	return &safety->ranges.items[low];
}

/* What a visit of all frames carries along. */
struct visit {
	struct safety *safety;
	struct safety_finding *finding;
	bool in_way; /* the frame visited last is */
};

/* Makes room in a chain that is full before anything was found: the innermost frame stays. */
static void forget_inner(struct safety_finding *finding)
{
	const size_t half = SAFETY_CHAIN_MAX / 2;

	memmove(finding->chain + 1, finding->chain + half,
		(SAFETY_CHAIN_MAX - half) * sizeof(taddr));
	finding->n_chain = SAFETY_CHAIN_MAX - half + 1;
}

/* The call chain is noted to its end even after a hit: the message shows who called. */
static bool visit_frame(void *ctx, const struct unwind_frame *frame)
{
	struct visit *visit = ctx;
	struct safety_finding *finding = visit->finding;
	const struct safety_range *range =
		range_at(visit->safety, frame->is_call ? frame->pc - 1 : frame->pc);

	if (range && range->entry_ok && !frame->is_call && frame->pc == range->start)
		range = NULL;
	if (visit->in_way) {
		finding->return_pc = frame->pc;
		finding->return_sp = frame->sp;
	}
	visit->in_way = range;
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

/* Takes every word from sp to the end of its mapping for a return address. */
static bool scan_words(struct safety *safety, taddr sp, struct safety_finding *finding)
{
	const struct mapping *map = proc_mapping_at(safety->proc, sp);
	uint64_t words[SCAN_CHUNK / 8];

	if (!map || !map->read || !map->write) {
		finding->unreadable = true;
		return false;
	}
	for (taddr at = sp & ~7ull; at < map->end;) {
		size_t want = map->end - at < sizeof(words) ? map->end - at : sizeof(words);
		size_t got = proc_read_some(safety->proc, at, words, want);

		if (got != want) {
			finding->unreadable = true;
			return false;
		}
		for (size_t i = 0; i < got / 8; i++) {
			const struct safety_range *range = range_at(safety, words[i] - 1);

			if (!range)
				continue;
			finding->function = range->name;
			if (finding->n_chain == SAFETY_CHAIN_MAX)
				forget_inner(finding);
			finding->at = finding->n_chain;
			finding->chain[finding->n_chain++] = words[i] - 1;
			return false;
		}
		at += got;
	}
	return true;
}

static bool check(struct safety *safety, pid_t tid, const struct some_regs *regs,
		  struct safety_finding *finding)
{
	struct visit visit = { .safety = safety, .finding = finding };
	enum unwind_end end;
	taddr sp;

	*finding = (struct safety_finding){ .tid = tid };
	end = unwind(safety->unwinder, regs, visit_frame, &visit, &sp);
	finding->whole = end == UNWIND_COMPLETE && finding->n_chain < SAFETY_CHAIN_MAX;
	if (finding->function)
		return false;
	return end == UNWIND_COMPLETE || scan_words(safety, sp, finding);
}

bool safety_check(struct safety *safety, const struct thread *thread,
		  struct safety_finding *finding)
{
	struct some_regs regs;

	regs_to_dwarf(&thread->regs, &regs);
	return check(safety, thread->tid, &regs, finding);
}

bool safety_check_asleep(struct safety *safety, const struct asleep_thread *thread,
			 struct safety_finding *finding)
{
	return check(safety, thread->tid, &thread->regs, finding);
}
