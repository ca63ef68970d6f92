// SPDX-License-Identifier: GPL-3.0-or-later
// inactive.c - stacks on which no thread runs, and that one will go back to
/*
 * The scan looks for words that are return addresses into code which must be empty: behind a call
 * instruction of it, as they are or mangled by glibc's setjmp. Most programs have them only on
 * their threads' stacks, and then one pass over the memory is all.
 *
 * Memory is full of return addresses that are of no account any more: below the stack pointer of
 * every stack, on the stacks of threads that have ended, in contexts that were left long ago. A
 * word counts only if there is a way to get back to it:
 *
 *   - it is the program counter of a context (a jmp_buf or a ucontext_t), and the stack that the
 *     context means still holds the return address of the call that made it;
 *   - or it lies on a stack, and an unwind from a stack pointer found in memory comes to it as to a
 *     return address (inactive_stack.c).
 *
 * A thunk of the tracer hides the return address of the call that it waits for in the shadow of the
 * stack, and maybe behind another thunk: what lies there counts as if it lay on the stack
 * (note_hidden).
 *
 * In the stop, a word on the stack of a thread that runs there is left to the unwinding of that
 * thread, and one on the stack of a thread that has ended doesn't count.
 */

#include "safety/inactive.h"

#include <elf.h>
#include <string.h>

#include "proc/resident.h"
#include "safety/gmon.h"
#include "safety/inactive_priv.h"

/* More words than that aren't on stacks: a profiler's samples, for example. */
#define WORDS_MAX 65536
#define NEAR (1u << 19)
/* A thread control block lies this near to the end of a thread's stack, at most. */
#define TCB_ROOM 65536
#define TCB_ALIGN 64
/* The x86-64 ABI of thread-local storage: a block begins with its own address; glibc's again. */
#define TCB_SELF 2

/* The thread control block at the end of a thread's stack, 0 if the mapping isn't one. */
static taddr find_tcb(const struct proc *proc, const struct mapping *map)
{
	uint64_t words[TCB_ROOM / 8];
	size_t room = map->end - map->start < TCB_ROOM ? map->end - map->start : TCB_ROOM;
	taddr from = map->end - room;
	size_t n = proc_read_some(proc, from, words, room) / 8;

	for (size_t i = 0; i + TCB_SELF < n; i += TCB_ALIGN / 8)
		if (words[i] == from + 8 * i && words[i + TCB_SELF] == words[i])
			return words[i];
	return 0;
}

/*
 * Fills in word->sp if the words around are a context whose stack is still as it was when the
 * context was made.
 */
static void look_around(struct inactive_scan *scan, struct inactive_word *word, bool mangled)
{
	uint64_t before[-CONTEXT_SP], slot;
	const struct mapping *map;
	taddr sp;

	if (proc_read_some(scan->proc, word->at + 8 * CONTEXT_SP, before, sizeof(before)) !=
	    sizeof(before))
		return;
	sp = mangled ? context_demangle(before[0], scan->guard) : before[0];
	map = mappings_at(&scan->maps, sp);
	if (sp % 8 || !map || !map->write ||
	    proc_read_some(scan->proc, context_return_slot(sp), &slot, sizeof(slot)) !=
		    sizeof(slot))
		return;
	/* The function that has set a jmp_buf has called others since, longjmp for one. */
	if (slot == word->pc || (mangled && safety_range_at(scan->inactive->safety, slot - 1) &&
				 inactive_follows_call(scan, slot)))
		word->sp = sp;
}

static bool is_wanted(struct inactive_scan *scan, taddr pc)
{
	return safety_range_at(scan->inactive->safety, pc - 1) && inactive_follows_call(scan, pc);
}

/* Fills in the mapping that the word's stack is in; false if there is none. */
static bool find_stack(struct inactive_scan *scan, struct inactive_word *word)
{
	const struct mapping *map = mappings_at(&scan->maps, word->sp ? word->sp : word->place);

	if (!map)
		return false;
	word->start = map->start;
	word->end = map->end;
	word->is_main_stack = !strcmp(map->path, "[stack]");
	if (!word->is_main_stack) {
		if (map != scan->tcb_map)
			scan->tcb = find_tcb(scan->proc, map);
		scan->tcb_map = map;
	}
	word->tcb = word->is_main_stack ? 0 : scan->tcb;
	return true;
}

/*
 * The last word of the list if it is of the tracer's runtime, and the new one lies near: there are
 * many, for all calls that were traced. They only say that there is a stack (inactive_stack.c), and
 * one is enough for that.
 */
static struct inactive_word *last_if_same(const struct inactive_scan *scan,
					  const struct inactive_word *word)
{
	const struct inactive *inactive = scan->inactive;
	struct inactive_word *last = vec_end(&inactive->words);

	if (!inactive->words.n || last[-1].place / NEAR != word->place / NEAR ||
	    last[-1].start != word->start ||
	    !unwinder_is_runtime(inactive->safety->unwinder, last[-1].pc))
		return NULL;
	return last - 1;
}

static int add_word(struct inactive_scan *scan, struct inactive_word *word, struct uspl_err *err)
{
	struct inactive *inactive = scan->inactive;
	struct inactive_word *item;

	if (!find_stack(scan, word))
		return 0;
	word->live = word->sp;
	item = last_if_same(scan, word);
	inactive->full |= !item && inactive->words.n == WORDS_MAX;
	if (inactive->full)
		return 0;
	if (!item)
		item = vec_push(&inactive->words);
	if (!item)
		return uspl_fail_nomem(err);
	*item = *word;
	return 0;
}

/* Notes what thunks keep in shadows for the word's place on a stack, if the word is a thunk's. */
static int note_hidden(struct inactive_scan *scan, taddr place, uint64_t word, struct uspl_err *err)
{
	const struct unwinder *unwinder = scan->inactive->safety->unwinder;
	int rc = 0;

	for (int i = 0; i < OWNERS_HIDDEN_MAX; i++) {
		taddr kept_at = unwinder_kept_at(unwinder, place, word);
		struct inactive_word item = { .at = kept_at, .place = place };

		if (!kept_at ||
		    proc_read_some(scan->proc, kept_at, &word, sizeof(word)) != sizeof(word))
			return 0;
		item.pc = word;
		if (is_wanted(scan, word)) {
			rc = add_word(scan, &item, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int note_words(struct inactive_scan *scan, const struct resident *piece,
		      const struct context_query *query, struct uspl_err *err)
{
	size_t i = context_find(query, piece->words, piece->n, 0);
	int rc = 0;

	for (; i < piece->n; i = context_find(query, piece->words, piece->n, i + 1)) {
		taddr pc = piece->words[i], at = piece->at + 8 * i;
		bool mangled = pc < query->start || pc >= query->end;
		struct inactive_word word;

		if (owners_memory_has(&scan->owned, at))
			continue;
		if (mangled)
			pc = context_demangle(pc, query->guard);
		word = (struct inactive_word){ .at = at, .pc = pc, .place = at };
		if (is_wanted(scan, pc)) {
			look_around(scan, &word, mangled);
			if (!mangled || word.sp)
				rc = add_word(scan, &word, err);
		}
		if (!rc && !mangled && !word.sp)
			rc = note_hidden(scan, at, pc, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * From the first old function to the last, and all thunks that may hide a return address into one.
 */
static struct context_query make_query(const struct inactive_scan *scan)
{
	struct context_query query = { .start = UINT64_MAX,
				       .guard = scan->guard,
				       .mangled = scan->guard };
	const struct safety_range *range;
	taddr start, end;

	if (unwinder_thunks(scan->inactive->safety->unwinder, &start, &end)) {
		query.start = start;
		query.end = end;
	}
	vec_for_each (&scan->inactive->safety->ranges, range) {
		if (range->start < query.start)
			query.start = range->start;
		/* A return address may be the one behind a last instruction that calls. */
		if (range->end + 1 > query.end)
			query.end = range->end + 1;
	}
	return query;
}

/* A profiler's counts are return addresses, but lie on no stack. */
static void drop_profile(struct inactive_scan *scan)
{
	struct inactive *inactive = scan->inactive;
	const struct inactive_word *word;
	taddr start, end;
	size_t n = 0;

	if (!inactive->words.n)
		return;
	gmon_find(scan->proc, &scan->maps, &start, &end);
	vec_for_each (&inactive->words, word)
		if (word->at < start || word->at >= end)
			inactive->words.items[n++] = *word;
	inactive->words.n = n;
}

static int scan_memory(struct inactive_scan *scan, struct uspl_err *err)
{
	struct inactive *inactive = scan->inactive;
	struct resident walk = { .proc = scan->proc,
				 .maps = &scan->maps,
				 .budget = inactive->budget };
	struct context_query query;
	int rc = proc_read_maps(scan->proc, &scan->maps, err);

	if (rc)
		return rc;
	rc = owners_find_memory(scan->proc, &scan->owned, err);
	if (rc)
		return rc;
	if (inactive->safety->ranges.n) {
		query = make_query(scan);
		rc = resident_open(&walk, err);
		while (!rc && resident_next(&walk))
			rc = note_words(scan, &walk, &query, err);
		inactive->left_out = walk.left_out;
		resident_close(&walk);
		if (rc)
			return rc;
	}
	drop_profile(scan);
	rc = inactive_walk_stacks(scan, err);
	if (rc)
		return rc;
	if (inactive->interrupted.live)
		inactive->interrupted.live = find_stack(scan, &inactive->interrupted);
	return 0;
}

int inactive_scan(struct inactive *inactive, struct uspl_err *err)
{
	const struct proc *proc = inactive->safety->proc;
	struct inactive_scan scan = { .inactive = inactive, .proc = proc };
	taddr random = proc_auxv(proc, AT_RANDOM);
	int rc;

	inactive_release(inactive);
	inactive->interrupted = (struct inactive_word){ 0 };
	inactive->full = false;
	/*
	 * glibc takes its pointer guard from the second half of the kernel's bytes (dl-osinfo.h).
	 */
	if (random)
		proc_read_some(proc, random + sizeof(scan.guard), &scan.guard, sizeof(scan.guard));
	rc = scan_memory(&scan, err);
	vec_release(&scan.owned);
	mappings_release(&scan.maps);
	return rc;
}

bool inactive_found(const struct inactive *inactive)
{
	const struct inactive_word *word;

	vec_for_each (&inactive->words, word)
		if (word->live)
			return true;
	return inactive->interrupted.live;
}

static bool add_stack(inactive_stack_vec *stacks, const struct inactive_word *word)
{
	struct inactive_stack *stack;

	if (!word->live)
		return true;
	if (!word->tcb && !word->is_main_stack)
		return false;
	vec_for_each (stacks, stack)
		if (stack->start == word->start && stack->end == word->end)
			return true;
	stack = vec_push(stacks);
	if (stack)
		*stack = (struct inactive_stack){ word->start, word->end };
	return stack;
}

bool inactive_on_threads(const struct inactive *inactive, inactive_stack_vec *ret)
{
	const struct inactive_word *word;

	if (!add_stack(ret, &inactive->interrupted))
		return false;
	vec_for_each (&inactive->words, word)
		if (!add_stack(ret, word))
			return false;
	return true;
}

bool inactive_is_threads_own(const struct inactive_word *word, const thread_vec *threads)
{
	bool owned = false;
	const struct thread *thread;

	if (!word->tcb && !word->is_main_stack)
		return false;
	vec_for_each (threads, thread) {
		taddr sp = regs_sp(&thread->regs);

		if (thread->state != THREAD_STOPPED)
			continue;
		if (sp >= word->start && sp < word->end)
			return true;
		owned |= word->tcb && regs_tcb(&thread->regs) == word->tcb;
	}
	return word->tcb && !owned;
}

bool inactive_check(const struct inactive *inactive, const thread_vec *threads,
		    struct safety_finding *finding)
{
	const struct inactive_word *word, *found = NULL;
	taddr pc;

	if (inactive->interrupted.live && !inactive_is_threads_own(&inactive->interrupted, threads))
		found = &inactive->interrupted;
	vec_for_each (&inactive->words, word)
		if (!found && word->live && !inactive_is_threads_own(word, threads))
			found = word;
	if (!found)
		return true;
	pc = found == &inactive->interrupted ? found->pc : found->pc - 1;
	*finding = (struct safety_finding){
		.function = safety_range_at(inactive->safety, pc)->name,
		.proven = true,
		.chain = { pc },
		.n_chain = 1,
	};
	return false;
}

void inactive_release(struct inactive *inactive)
{
	vec_release(&inactive->words);
	vec_release(&inactive->backs);
}
