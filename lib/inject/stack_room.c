// SPDX-License-Identifier: GPL-3.0-or-later
// stack_room.c - room for the agent's frame on the stack that a thread was made with
/*
 * The main thread's stack is the mapping that the kernel calls [stack]. For the others, the C
 * library keeps where it has mapped the stack, and how much, side by side in what the thread
 * pointer leads to: stackblock and stackblock_size in glibc's struct pthread (nptl/descr.h),
 * map_base and map_size in musl's (src/internal/pthread_impl.h). Their offsets differ between
 * versions, so the tool looks for them: an address below the thread pointer, and the length that
 * ends right above it.
 *
 * On that stack the tool looks for pages that were never written to: /proc/PID/pagemap says that
 * they aren't there. It takes the nearest ones below the stack pointer. If the thread is elsewhere,
 * it takes the lowest ones: should another thread be on this stack just now, it is far from there.
 * Programs that lock their memory have all pages; then pages of zeros count as unused. And if there
 * are none either, the stack has been used to its end once: the thread's own frames tell nothing of
 * a smaller stack among them, and the lower end is as far from it as can be.
 */

#include "inject/stack_room.h"

#include <string.h>

#include "proc/pagemap.h"

/* What is read behind the thread pointer: struct pthread has 2304 bytes in glibc, less in musl. */
#define THREAD_WORDS 288
/* Above the thread pointer only that lies on the stack; musl has 1 KB of pointers there. */
#define ABOVE_MAX (2 * PAGE)
/* How many pages are looked at. */
#define WINDOW 64
/* And how many of them are read at a time. */
#define CHUNK 16

/* A page that is there, or in swap, has one of these bits. */
#define ENTRY_USED (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)

/* What may be used of a stack: [low, high). */
struct own_stack {
	taddr low, high;
	bool current; /* the thread is on it, and high is its stack pointer, red zone included */
};

/*
 * The stack's lower end as the C library has noted it, which may be that of a guard right below the
 * stack's mapping. Other pairs add up as well: glibc keeps the thread's id, a small number in a
 * container, in front of a pointer to its own robust_head.
 */
static bool read_note(const struct proc *proc, const mapping_vec *maps, taddr pointer,
		      taddr *ret_low)
{
	uint64_t words[THREAD_WORDS];
	size_t n = proc_read_some(proc, pointer, words, sizeof(words)) / sizeof(*words);
	const struct mapping *map = mappings_at(maps, pointer);
	const struct mapping *guard = mappings_at(maps, map->start - 1);
	taddr lowest = guard && !guard->read ? guard->start : map->start;

	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t end = words[i] + words[i + 1];

		if (words[i] < lowest || words[i] >= pointer || end <= pointer ||
		    end > pointer + ABOVE_MAX)
			continue;
		*ret_low = words[i];
		return true;
	}
	return false;
}

static bool find_of_thread(const struct proc *proc, const mapping_vec *maps, taddr pointer,
			   struct own_stack *ret)
{
	const struct mapping *map = mappings_at(maps, pointer);
	auto_close int pagemap = -1;
	taddr low;

	if (!map || !map->write || map->shared || !read_note(proc, maps, pointer, &low))
		return false;
	/* The stack may begin behind a guard region within its mapping. */
	low = low > map->start ? low : map->start;
	pagemap = pagemap_open(proc);
	while (low < pointer && pagemap_is_guard(pagemap, proc, low))
		low = (low & ~(PAGE - 1)) + PAGE;
	*ret = (struct own_stack){ low, pointer, false };
	return true;
}

static bool find_of_main(const mapping_vec *maps, struct own_stack *ret)
{
	const struct mapping *map;

	vec_for_each (maps, map)
		if (!strcmp(map->path, "[stack]")) {
			*ret = (struct own_stack){ map->start, map->end, false };
			return true;
		}
	return false;
}

static bool find_stack(const struct proc *proc, const struct thread *thread, struct own_stack *ret)
{
	taddr pointer = regs_tcb(&thread->regs), below = regs_unused_below(&thread->regs);
	mapping_vec now = { 0 };
	bool found = thread->tid == proc->pid ? find_of_main(&proc->maps, ret)
					      : find_of_thread(proc, &proc->maps, pointer, ret);

	/* A thread may have been born since the mappings were read. */
	if (!found && thread->tid != proc->pid && proc_read_maps(proc, &now, NULL) == 0)
		found = find_of_thread(proc, &now, pointer, ret);
	mappings_release(&now);
	ret->current = found && below >= ret->low && below < ret->high;
	if (ret->current)
		ret->high = below;
	return found;
}

/* The pages of [from, from + n) that were never written to, a bool for each. */
static void find_untouched(const struct proc *proc, taddr from, size_t n, bool *ret)
{
	uint64_t entries[WINDOW];
	auto_close int pagemap = pagemap_open(proc);
	size_t got = pagemap_read(pagemap, from, entries, n);

	for (size_t i = 0; i < n; i++)
		ret[i] = i < got && !(entries[i] & ENTRY_USED);
}

/* Those that hold zeros only. */
static void find_zeros(const struct proc *proc, taddr from, size_t n, bool *ret)
{
	static const uint8_t zeros[PAGE];
	uint8_t pages[CHUNK * PAGE];

	for (size_t i = 0; i < n; i += CHUNK) {
		size_t wanted = n - i < CHUNK ? n - i : CHUNK;
		size_t got = proc_read_some(proc, from + i * PAGE, pages, wanted * PAGE);

		for (size_t k = 0; k < wanted; k++)
			ret[i + k] =
				(k + 1) * PAGE <= got && !memcmp(pages + k * PAGE, zeros, PAGE);
	}
}

/*
 * The end of a run of pages that are free: of the highest run if they are to lie near the stack
 * pointer, else of the lowest one. 0 if there is none.
 */
static taddr find_run(const bool *is_free, taddr from, size_t n, size_t wanted, bool high)
{
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = high ? n - 1 - i : i;

		run = is_free[at] ? run + 1 : 0;
		if (run == wanted)
			return from + (high ? at + wanted : at + 1) * PAGE;
	}
	return 0;
}

bool stack_room_find(const struct proc *proc, const struct thread *thread, uint64_t len,
		     taddr *ret_top)
{
	size_t wanted = (size_t)((len + PAGE - 1) / PAGE), n;
	bool is_free[WINDOW];
	struct own_stack stack;
	taddr from, to, top = 0;

	if (!find_stack(proc, thread, &stack))
		return false;
	from = (stack.low + PAGE - 1) & ~(PAGE - 1);
	to = stack.high & ~(PAGE - 1);
	n = to > from ? (size_t)((to - from) / PAGE) : 0;
	if (n > WINDOW && stack.current)
		from = to - WINDOW * PAGE;
	n = n > WINDOW ? WINDOW : n;
	find_untouched(proc, from, n, is_free);
	top = find_run(is_free, from, n, wanted, stack.current);
	if (!top) {
		find_zeros(proc, from, n, is_free);
		top = find_run(is_free, from, n, wanted, stack.current);
	}
	if (!top && stack.current && stack.high - stack.low >= len &&
	    proc_maps_now(proc, stack.low, len))
		top = stack.low + len;
	*ret_top = top ? top : *ret_top;
	return top;
}
