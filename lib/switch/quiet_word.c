// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_word.c - the word that decides in a quiet switch: held with a lease, and what it is to be

#include <stddef.h>

#include "base/log.h"
#include "switch/quiet.h"

/* What the kernel had no memory for, say, is tried again: nobody else can do it. */
#define TRIES 5
/* How long a gate holds at most: whoever waits then goes on as before. */
#define LEASE_NS 1000000ll
#define LEASE_PER_THREAD_NS 5000ll
/*
 * How long a caller waits at most for those that are inside to leave, and for how long it is left
 * alone then: so often the lease, as chance will have it, at most three times for so many holds,
 * then nine times for as many. Holds at even distances could meet calls of even length in the same
 * places again and again, and frequent ones could keep two threads apart for ever, since both are
 * held back alike.
 */
#define DRAIN_NS 40000000ll
#define DRAIN_REST_SHORT 3
#define DRAIN_REST_LONG 9
#define DRAIN_TURN 16
/*
 * How far below its entry a busy function's stack pointer may be. What is taken for inside by
 * mistake isn't held, and what isn't taken for it is held for a while: nothing else depends on it.
 */
#define INSIDE_LEN (1ull << 20)

enum uspl_word_value quiet_word_from(const struct quiet *quiet)
{
	return quiet->t->direction == TRANSITION_ON ? USPL_WORD_OLD : USPL_WORD_NEW;
}

enum uspl_word_value quiet_word_to(const struct quiet *quiet)
{
	return quiet->t->direction == TRANSITION_ON ? USPL_WORD_NEW : USPL_WORD_OLD;
}

int64_t quiet_lease_ns(const struct quiet *quiet)
{
	return LEASE_NS + LEASE_PER_THREAD_NS * (int64_t)quiet->asleep.threads.n;
}

/* So many threads can wait at a time, and no longer than that. */
static struct uspl_word lease_of(const struct quiet *quiet, int64_t ns)
{
	uint32_t turns = gate_turns(ns);
	int64_t all = (int64_t)turns * sysconf(_SC_NPROCESSORS_ONLN);

	return (struct uspl_word){ .decider = quiet->decider->word,
				   .turns = turns,
				   .all_turns =
					   all > 0 && all < INT32_MAX ? (int32_t)all : INT32_MAX };
}

void quiet_measure_lease(struct quiet *quiet)
{
	quiet->lease = lease_of(quiet, quiet_lease_ns(quiet));
}

/*
 * The lease first, and no verdict: who finds the word holding must find a lease to wait for, and
 * nothing that an earlier switch has left.
 */
static int write_hold(const struct quiet *quiet, const struct uspl_word *lease, uint8_t hold,
		      struct uspl_err *err)
{
	const size_t rest = offsetof(struct uspl_word, verdict);
	taddr word = quiet->decider->word;
	int rc = proc_write(quiet->t->proc, word + rest, (const uint8_t *)lease + rest,
			    sizeof(*lease) - rest, err);

	return rc ? rc
		  : proc_write(quiet->t->proc, word + offsetof(struct uspl_word, value), &hold,
			       sizeof(hold), err);
}

/*
 * Over a DRAIN, too: a waiter may make that OLD at the same moment, which is what the gates are
 * closed from anyway.
 */
int quiet_close_gates(struct quiet *quiet, struct uspl_err *err)
{
	uint8_t hold = (uint8_t)(quiet_word_from(quiet) | USPL_WORD_HOLD);
	struct stop *stop = &quiet->run->stop;
	int rc;

	/* From here on threads may be waiting. */
	if (!stop->entered_ns)
		stop->entered_ns = clock_now_ns();
	quiet->draining = false;
	rc = write_hold(quiet, &quiet->lease, hold, err);
	/* Before the counts are read. The other side's barrier is the scheduler's. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return rc;
}

static int64_t drain_ns(const struct quiet *quiet)
{
	double limit = quiet->t->max_pause_s * 1e9 / 2;

	return limit > 0 && limit < DRAIN_NS ? (int64_t)limit : DRAIN_NS;
}

static int64_t rest_ns(const struct quiet *quiet, int64_t now)
{
	enum { STEPS = 256 };
	/* What the clock says below its resolution is noise, and enough of it. */
	uint64_t chance = (uint64_t)now * 0x9e3779b97f4a7c15 >> 32 & (STEPS - 1);
	int most = quiet->drains / DRAIN_TURN % 2 ? DRAIN_REST_LONG : DRAIN_REST_SHORT;

	return drain_ns(quiet) * (STEPS + (most - 1) * (int64_t)chance) / STEPS;
}

static int write_inside(const struct quiet *quiet, const taddr *sp, size_t n, struct uspl_err *err)
{
	struct uspl_inside inside[USPL_INSIDE_MAX + 1] = { 0 };

	_Static_assert(USPL_INSIDE_AT >= sizeof(struct uspl_word) &&
			       USPL_INSIDE_AT + sizeof(inside) <= GATES_SLATE_AT,
		       "between the word and the slate");
	if (n > USPL_INSIDE_MAX)
		n = USPL_INSIDE_MAX;
	for (size_t i = 0; i < n; i++)
		inside[i] =
			(struct uspl_inside){ sp[i] > INSIDE_LEN ? sp[i] - INSIDE_LEN : 0, sp[i] };
	return proc_write(quiet->t->proc, quiet->decider->word + USPL_INSIDE_AT, inside,
			  (n + 1) * sizeof(*inside), err);
}

int quiet_drain(struct quiet *quiet, const taddr *sp, size_t n, bool *ret_held,
		struct uspl_err *err)
{
	uint8_t from = (uint8_t)quiet_word_from(quiet);
	int64_t now = clock_now_ns();
	struct uspl_word word, lease;
	int rc = proc_read(quiet->t->proc, quiet->decider->word, &word, sizeof(word), err);

	*ret_held = !rc && quiet->draining && word.value & USPL_WORD_DRAIN;
	if (rc || *ret_held)
		return rc;
	if (quiet->draining)
		quiet->drain_again_ns = now + rest_ns(quiet, now);
	quiet->draining = false;
	if (now < quiet->drain_again_ns || word.value != from)
		return 0;
	rc = write_inside(quiet, sp, n, err);
	if (rc)
		return rc;
	lease = lease_of(quiet, drain_ns(quiet));
	*ret_held = quiet->draining = true;
	quiet->drains++;
	quiet->run->hold_began_ns = now;
	return write_hold(quiet, &lease, from | USPL_WORD_HOLD | USPL_WORD_DRAIN, err);
}

/*
 * Both bytes, after the verdict has been written, or not. Whoever waits swaps both in one piece,
 * but we may read one before that and the other one after it: a hold without the verdict, which
 * can't be. Then again.
 */
static int read_both(const struct quiet *quiet, bool written, uint8_t both[2], struct uspl_err *err)
{
	taddr at = quiet->decider->word + offsetof(struct uspl_word, value);
	int rc, failures = 0;

	do {
		rc = proc_read(quiet->t->proc, at, both, 2, err);
		failures += rc != 0;
	} while (rc ? failures < TRIES : written && both[0] & USPL_WORD_HOLD && !both[1]);
	return rc;
}

static int write_byte(const struct quiet *quiet, size_t offset, uint8_t byte, struct uspl_err *err)
{
	taddr at = quiet->decider->word + offset;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		rc = proc_write(quiet->t->proc, at, &byte, sizeof(byte), err);
		if (!rc)
			break;
	}
	return rc;
}

/* Whoever waits may do the same at the same time: it says the same afterwards. */
void quiet_open_gates(struct quiet *quiet)
{
	uint8_t from = (uint8_t)quiet_word_from(quiet);

	quiet->draining = false;
	if (write_byte(quiet, offsetof(struct uspl_word, value), from, NULL) != 0)
		log_info("quiet", "the gates open when their lease is over");
}

int quiet_commit(struct quiet *quiet, struct uspl_err *err)
{
	uint8_t to = (uint8_t)quiet_word_to(quiet), both[2];
	struct uspl_err why = { 0 };
	int rc = write_byte(quiet, offsetof(struct uspl_word, verdict), USPL_VERDICT_OLD | to,
			    &why),
	    read = read_both(quiet, !rc, both, rc ? NULL : &why);

	if ((rc || read) && err)
		*err = why;
	/* The verdict may be there: what it decides, nobody knows. */
	quiet->undecided = read != 0;
	if (read)
		return read;
	if (rc && !both[1]) {
		quiet_open_gates(quiet);
		return rc;
	}
	quiet->run->switched = both[0] == to || both[0] & USPL_WORD_HOLD;
	/*
	 * So that gates need not look further. What fails here the next command finds, and reads as
	 * this.
	 */
	if (quiet->run->switched &&
	    write_byte(quiet, offsetof(struct uspl_word, value), to, NULL) != 0)
		log_info("quiet", "the word keeps its verdict beside it");
	return 0;
}
