// SPDX-License-Identifier: GPL-3.0-or-later
// stopless_selector.c - the selector that decides in a stopless switch: its hold, timeout and value

#include <stddef.h>

#include "base/log.h"
#include "switch/stopless.h"

/* What the kernel had no memory for, say, is tried again: nothing else can do it. */
#define TRIES 5
/* How long a trampoline holds at most: a thread that waits then goes on as before. */
#define HOLD_TIMEOUT_NS 1000000ll
#define HOLD_TIMEOUT_PER_THREAD_NS 5000ll
/* The same where slots are gathered, with the threads in the way at a standstill. */
#define HOLD_GATHER_NS 40000000ll
/*
 * How long a caller waits at most for the threads inside to leave. Then it is left alone for a
 * random multiple of that time: at most three times for so many holds, then nine times for as many.
 * Holds at even distances could meet calls of even length in the same places again and again, and
 * frequent ones could keep two threads apart for ever, since both are held back alike.
 */
#define DRAIN_NS 40000000ll
#define DRAIN_REST_SHORT 3
#define DRAIN_REST_LONG 9
#define DRAIN_TURN 16
/* The rest is so many times as long where it isn't known that the threads inside ever return. */
#define DRAIN_REST_GUESSED 10
/*
 * How far below its entry a busy function's stack pointer may be. A thread taken for inside by
 * mistake isn't held, and one that isn't taken for it is held for a while: nothing else depends on
 * it.
 */
#define INSIDE_LEN (1ull << 20)

enum uspl_selector_value stopless_value_from(const struct stopless *stopless)
{
	return stopless->t->direction == TRANSITION_ON ? USPL_SELECTOR_OLD : USPL_SELECTOR_NEW;
}

enum uspl_selector_value stopless_value_to(const struct stopless *stopless)
{
	return stopless->t->direction == TRANSITION_ON ? USPL_SELECTOR_NEW : USPL_SELECTOR_OLD;
}

int64_t stopless_hold_timeout_ns(const struct stopless *stopless)
{
	if (stopless->gathers)
		return HOLD_GATHER_NS;
	return HOLD_TIMEOUT_NS + HOLD_TIMEOUT_PER_THREAD_NS * (int64_t)stopless->blocked.threads.n;
}

/* So many threads can wait at a time, and no longer than that. */
static struct uspl_selector timeout_of(const struct stopless *stopless, int64_t ns)
{
	uint32_t turns = trampoline_turns(ns);
	int64_t all = (int64_t)turns * sysconf(_SC_NPROCESSORS_ONLN);

	return (struct uspl_selector){ .leader = stopless->leader->selector,
				       .turns = turns,
				       .all_turns = all > 0 && all < INT32_MAX ? (int32_t)all
									       : INT32_MAX };
}

void stopless_measure_hold(struct stopless *stopless)
{
	stopless->timeout = timeout_of(stopless, stopless_hold_timeout_ns(stopless));
}

/*
 * The hold timeout first, and no commit byte: a thread that finds the selector holding must find a
 * hold timeout to wait for, and nothing that an earlier switch has left.
 */
static int write_hold(const struct stopless *stopless, const struct uspl_selector *timeout,
		      uint8_t hold, struct uspl_err *err)
{
	const size_t rest = offsetof(struct uspl_selector, commit);
	taddr selector = stopless->leader->selector;
	int rc = proc_write(stopless->t->proc, selector + rest, (const uint8_t *)timeout + rest,
			    sizeof(*timeout) - rest, err);

	if (rc)
		return rc;
	return proc_write(stopless->t->proc, selector + offsetof(struct uspl_selector, value),
			  &hold, sizeof(hold), err);
}

/*
 * Over a DRAIN, too, and a HOLD that a dead tool has left: a waiter may end that at the same
 * moment, to what the trampolines are closed from anyway.
 */
int stopless_hold(struct stopless *stopless, struct uspl_err *err)
{
	uint8_t hold = stopless->settled | USPL_SELECTOR_HOLD;
	struct stop *stop = &stopless->run->stop;
	int rc;

	/* From here on threads may be waiting. */
	if (!stop->entered_ns)
		stop->entered_ns = clock_now_ns();
	stopless->draining = false;
	rc = write_hold(stopless, &stopless->timeout, hold, err);
	/* Before the counts are read. The other side's barrier is the scheduler's. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return rc;
}

static int64_t drain_ns(const struct stopless *stopless)
{
	double limit = stopless->t->max_pause_s * 1e9 / 2;

	return limit > 0 && limit < DRAIN_NS ? (int64_t)limit : DRAIN_NS;
}

int stopless_drain(struct stopless *stopless, const taddr *sp, size_t n, bool guessed,
		   bool *ret_held, struct uspl_err *err)
{
	enum { STEPS = 256 };
	uint8_t from = (uint8_t)stopless_value_from(stopless);
	struct uspl_inside inside[USPL_INSIDE_MAX + 1] = { 0 };
	int64_t now = clock_now_ns(), rest;
	/* The clock's bits below its resolution are noise, and random enough. */
	uint64_t chance = (uint64_t)now * 0x9e3779b97f4a7c15 >> 32 & (STEPS - 1);
	int most = stopless->drains / DRAIN_TURN % 2 ? DRAIN_REST_LONG : DRAIN_REST_SHORT;
	struct uspl_selector selector, timeout;
	int rc = proc_read(stopless->t->proc, stopless->leader->selector, &selector,
			   sizeof(selector), err);

	_Static_assert(USPL_INSIDE_AT >= sizeof(struct uspl_selector) &&
			       USPL_INSIDE_AT + sizeof(inside) <= TRAMPOLINES_RESULT_PAGE_AT,
		       "between the word and the slate");
	*ret_held = !rc && stopless->draining && selector.value & USPL_SELECTOR_DRAIN;
	if (rc || *ret_held)
		return rc;
	rest = drain_ns(stopless) * (STEPS + (most - 1) * (int64_t)chance) / STEPS;
	if (stopless->draining)
		stopless->drain_again_ns = now + rest * (guessed ? DRAIN_REST_GUESSED : 1);
	stopless->draining = false;
	if (now < stopless->drain_again_ns || selector.value != from)
		return 0;
	if (n > USPL_INSIDE_MAX)
		n = USPL_INSIDE_MAX;
	for (size_t i = 0; i < n; i++)
		inside[i] =
			(struct uspl_inside){ sp[i] > INSIDE_LEN ? sp[i] - INSIDE_LEN : 0, sp[i] };
	rc = proc_write(stopless->t->proc, stopless->leader->selector + USPL_INSIDE_AT, inside,
			(n + 1) * sizeof(*inside), err);
	if (rc)
		return rc;
	timeout = timeout_of(stopless, drain_ns(stopless));
	*ret_held = stopless->draining = true;
	stopless->drains++;
	stopless->run->hold_began_ns = now;
	return write_hold(stopless, &timeout, from | USPL_SELECTOR_HOLD | USPL_SELECTOR_DRAIN, err);
}

/*
 * Reads both bytes, after the commit byte has been written, or not. A thread that waits swaps both
 * in one piece, but the tool may read one before that and the other after it: a hold without the
 * commit byte, which can't be. Then it reads again.
 */
static int read_both(const struct stopless *stopless, bool written, uint8_t both[2],
		     struct uspl_err *err)
{
	taddr at = stopless->leader->selector + offsetof(struct uspl_selector, value);
	int rc, failures = 0;

	do {
		rc = proc_read(stopless->t->proc, at, both, 2, err);
		failures += rc != 0;
	} while (rc ? failures < TRIES : written && both[0] & USPL_SELECTOR_HOLD && !both[1]);
	return rc;
}

static int write_byte(const struct stopless *stopless, size_t offset, uint8_t byte,
		      struct uspl_err *err)
{
	taddr at = stopless->leader->selector + offset;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		rc = proc_write(stopless->t->proc, at, &byte, sizeof(byte), err);
		if (!rc)
			break;
	}
	return rc;
}

/* A thread that waits may do the same at the same time: the selector says the same afterwards. */
void stopless_end_hold(struct stopless *stopless)
{
	stopless->draining = false;
	if (write_byte(stopless, offsetof(struct uspl_selector, value), stopless->settled, NULL) !=
	    0)
		log_info("stopless", "the trampolines open when the hold timeout is over");
}

int stopless_commit(struct stopless *stopless, uint8_t to, struct uspl_err *err)
{
	uint8_t both[2];
	bool made;
	struct uspl_err why = { 0 };
	int rc = write_byte(stopless, offsetof(struct uspl_selector, commit), USPL_COMMIT_SAID | to,
			    &why),
	    read = read_both(stopless, !rc, both, rc ? NULL : &why);

	if ((rc || read) && err)
		*err = why;
	/* The commit byte may be there: what it decides isn't known. */
	stopless->undecided = read != 0;
	if (read)
		return read;
	if (rc && !both[1]) {
		stopless_end_hold(stopless);
		return rc;
	}
	made = both[0] == to || both[0] & USPL_SELECTOR_HOLD;
	stopless->run->switched = made && to == stopless_value_to(stopless);
	if (made) {
		stopless->settled = to;
		stopless->run->by_thread = to & USPL_SELECTOR_BY_THREAD;
	}
	/*
	 * So that trampolines need not look further. If this fails, the next command finds the
	 * commit byte, and reads it the same way.
	 */
	if (made && write_byte(stopless, offsetof(struct uspl_selector, value), to, NULL) != 0)
		log_info("quiet", "the word keeps its verdict beside it");
	return 0;
}

int stopless_end_by_thread(struct stopless *stopless, struct uspl_err *err)
{
	uint8_t to = (uint8_t)stopless_value_to(stopless);
	int rc = write_byte(stopless, offsetof(struct uspl_selector, value), to, err);

	stopless->undecided = rc != 0;
	if (rc)
		return rc;
	stopless->settled = to;
	stopless->run->by_thread = false;
	stopless->run->switched = true;
	return 0;
}
