// SPDX-License-Identifier: MIT
// profile.c - calls that profile can't simply add up: left ones, tail calls, other stacks
/*
 * trace.S adds up a call that returns as the innermost one of its thread, in less than 2^32 ticks.
 * All else comes here; include/uspl/sums_abi.h has the list of open calls.
 *
 * A signal handler may come in anywhere, and its calls go on and off the same list. So a call is
 * off the list before anything else is done with it.
 */

#include "runtime/listen/profile.h"

#include "uspl/sums_abi.h"

#define PASSED (1ull << USPL_SUMS_PASSED_BIT)
#define UNIT (1ull << USPL_SUMS_UNIT_SHIFT)
#define WAS_MAX ((1ull << (64 - USPL_SUMS_ID_BITS)) - 1)

/* A thunk that waits for a return, by the bytes in front of where the body returns to. */
#define OP_CALL 0xe8
#define OP_PUSH 0x68
#define OP_JMP 0xe9
#define LEA_8_RSP 0x24648d48 /* the first four bytes of lea 8(%rsp), %rsp */

/* The slot of a call, and the word beside it. */
static uint64_t *slot_of(uint64_t at)
{
	return (uint64_t *)(USPL_TRACE_SHADOW(at) ^ uspl_control.shadow);
}

static uint64_t *name_of(uint64_t at)
{
	return (uint64_t *)USPL_TRACE_NAME((uint64_t)slot_of(at));
}

static struct uspl_sums_cell *cell_of(const struct uspl_trace_thread *thread, uint64_t id)
{
	if (id > uspl_control.sums_ids)
		return 0;
	return (struct uspl_sums_cell *)thread->sums + id;
}

static unsigned bucket_of(uint64_t ticks)
{
	unsigned __int128 ns =
		(unsigned __int128)ticks * uspl_control.sums_ns >> USPL_SUMS_NS_SHIFT;
	unsigned log = ns >> 63 ? 63 : 63 - (unsigned)__builtin_clzll((uint64_t)ns | 1);
	unsigned bucket = log < USPL_SUMS_FIRST_LOG ? 0 : log - USPL_SUMS_FIRST_LOG + 1;

	return bucket < USPL_SUMS_BUCKETS ? bucket : USPL_SUMS_BUCKETS - 1;
}

static void add_call(struct uspl_sums_cell *cell, uint64_t took)
{
	add_own(&cell->sum, took);
	if (cell->open)
		add_own(&cell->nested, took);
	raise_to(&cell->max, took);
	add_own(&cell->buckets[bucket_of(took)], 1);
}

/* The call around it hasn't spent that time by itself. */
static void add_to_caller(const struct uspl_trace_thread *thread, uint64_t around, uint64_t took)
{
	struct uspl_sums_cell *cell = cell_of(thread, uspl_sums_id(around));

	if (cell)
		add_own(&cell->children, took);
}

/* One call of the function is on the list no more. */
static void close_one(struct uspl_sums_cell *cell)
{
	if (cell->open)
		add_own(&cell->open, (uint64_t)-1);
}

/*
 * Takes the innermost call off the list. NULL if there is none, or if another thread has gone on
 * with its stack: then the list ends. *around: the call around it.
 */
static struct uspl_sums_cell *take_top(struct uspl_trace_thread *thread, uint64_t *around)
{
	uint64_t top = thread->top, at = uspl_sums_at(top);
	struct uspl_sums_cell *cell = cell_of(thread, uspl_sums_id(top));

	*around = uspl_sums_is_none(top) ? top : *name_of(at);
	if (uspl_sums_is_none(top) || !cell || slot_of(at)[1] & PASSED ||
	    uspl_sums_at(*around) <= at) {
		thread->top = (uint64_t)(int64_t)USPL_SUMS_NONE;
		return 0;
	}
	thread->top = *around;
	close_one(cell);
	return cell;
}

/* The innermost call was left, as far as can be told by now. */
static void pass(struct uspl_trace_thread *thread, uint64_t now)
{
	uint64_t at = uspl_sums_at(thread->top), around, was, *slot = slot_of(at);
	struct uspl_sums_cell *cell = take_top(thread, &around);

	if (!cell || !slot[1])
		return;
	was = (now - slot[1]) / UNIT;
	was = was < WAS_MAX ? was : WAS_MAX;
	slot[1] |= PASSED;
	*name_of(at) = was << USPL_SUMS_ID_BITS;
	add_call(cell, was * UNIT);
	add_own(&cell->left, 1);
	add_to_caller(thread, around, was * UNIT);
}

static void pass_below(struct uspl_trace_thread *thread, uint64_t at, uint64_t now)
{
	while (uspl_sums_at(thread->top) < at)
		pass(thread, now);
}

/* A call that was taken off the list has returned after all. */
static void come_back(struct uspl_sums_cell *cell, uint64_t at, uint64_t now)
{
	uint64_t took = now - (slot_of(at)[1] & ~PASSED);
	uint64_t was = (*name_of(at) >> USPL_SUMS_ID_BITS) * UNIT;

	add_own(&cell->left, (uint64_t)-1);
	add_own(&cell->buckets[bucket_of(was)], (uint64_t)-1);
	add_own(&cell->buckets[bucket_of(took)], 1);
	add_own(&cell->sum, took - was);
	if (cell->open)
		add_own(&cell->nested, took - was);
	raise_to(&cell->max, took);
}

static void count_lost(void)
{
	struct uspl_trace_counters *counters = (struct uspl_trace_counters *)uspl_control.counters;

	/* In a child of fork nothing is counted. */
	if (counters->enabled)
		add_atomic(&counters->nowhere, 1);
}

void profile_leave(uint64_t at, uint32_t id)
{
	struct uspl_trace_thread *thread = listen_thread();
	uint64_t now = ticks(), since = slot_of(at)[1], around = 0;
	struct uspl_sums_cell *cell;

	if (!thread || !thread->sums) {
		count_lost();
		return;
	}
	cell = cell_of(thread, id);
	if (!cell || !since)
		return;
	if (since & PASSED) {
		come_back(cell, at, now);
		return;
	}
	pass_below(thread, at, now);
	if (uspl_sums_at(thread->top) != at || !take_top(thread, &around))
		close_one(cell);
	add_call(cell, now - since);
	add_to_caller(thread, around, now - since);
}

static bool is_thunk(const uint8_t *back)
{
	return ((uint64_t)back & (USPL_TRACE_THUNK - 1)) == USPL_TRACE_THUNK_RETURN;
}

static bool is_in_session(const uint8_t *back)
{
	const struct uspl_trace_arena *arena = uspl_control.arenas;

	for (unsigned i = 0; i < USPL_TRACE_ARENAS && arena->len; i++, arena++)
		if ((uint64_t)back - arena->start < arena->len)
			return true;
	return false;
}

static bool has_word(const uint8_t *at, uint32_t word)
{
	uint32_t have;

	__builtin_memcpy(&have, at, sizeof(have));
	return have == word;
}

/*
 * What a thunk of whatever session keeps for the return address that lies at `at`; NULL if that
 * isn't a thunk's. As thunk_under in trace.S.
 */
static const uint8_t *look_under(uint64_t at, const uint8_t *back)
{
	const struct uspl_trace_control *control;
	int32_t distance;
	uint64_t runtime;

	if (!is_thunk(back) || back[-15] != OP_CALL || !has_word(back - 10, LEA_8_RSP) ||
	    back[-5] != OP_CALL || back[0] != OP_PUSH || back[5] != OP_JMP)
		return 0;
	__builtin_memcpy(&distance, back - 14, sizeof(distance));
	runtime = ((uint64_t)back - 10 + (uint64_t)(int64_t)distance) &
		  -(uint64_t)USPL_TRACE_CODE_ALIGN;
	control = (const void *)(runtime + USPL_TRACE_CONTROL);
	return *(const uint8_t *const *)(USPL_TRACE_SHADOW(at) ^ control->shadow);
}

/* A thunk of this session is under the return address of another one's. */
static bool is_hidden(uint64_t at, const uint8_t *back)
{
	for (back = look_under(at, back); back; back = look_under(at, back))
		if (is_thunk(back) && is_in_session(back))
			return true;
	return false;
}

/*
 * The thread has the place of one that has ended, and whose calls are still on the list. They were
 * left, when isn't known.
 */
static void count_ended(struct uspl_trace_thread *thread)
{
	uint64_t table = thread->sums, around;
	struct uspl_sums_cell *cell;

	thread->sums = thread->kept;
	while ((cell = take_top(thread, &around))) {
		add_own(&cell->left, 1);
		add_own(&cell->untimed, 1);
	}
	thread->sums = table;
	thread->kept = 0;
}

/* Puts a call on the list, as trace.S does. */
static void note(const struct profile_call *call, uint64_t back)
{
	uint64_t *slot = slot_of(call->at);
	uint32_t id;
	struct uspl_sums_cell *cell;

	__builtin_memcpy(&id, call->thunk + USPL_TRACE_THUNK_RETURN + 1 - 5, sizeof(id));
	cell = cell_of(call->thread, id);
	slot[0] = back;
	add_own(&cell->open, 1);
	*name_of(call->at) = call->thread->top;
	slot[1] = ticks();
	call->thread->top = call->at << USPL_SUMS_AT_SHIFT | id;
}

struct profile_entered profile_enter(const struct profile_call *call)
{
	uint64_t at = call->at, *slot = slot_of(at);
	const uint8_t *back = *(const uint8_t *const *)at;
	bool tail = is_thunk(back) && is_in_session(back);

	if (call->thread->kept)
		count_ended(call->thread);
	if (!tail && is_thunk(back) && is_hidden(at, back)) {
		count_lost();
		return (struct profile_entered){ 0, 0 };
	}
	if (tail) {
		uint32_t id;

		__builtin_memcpy(&id, back + 1, sizeof(id));
		profile_leave(at, id);
		slot[1] = 0;
		back = (const uint8_t *)slot[0];
	}
	/* A call in the same place is over, too. */
	pass_below(call->thread, at + 1, ticks());
	slot[1] = 0;
	if (tail)
		note(call, (uint64_t)back);
	return (struct profile_entered){ (uint64_t)back, tail };
}
