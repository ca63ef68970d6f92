// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_word.c - the word that decides in a quiet switch: held with a lease, and what it is to be

#include <stddef.h>

#include "base/log.h"
#include "live/quiet.h"

/* How long a gate holds at most: whoever waits then goes on as before. */
#define LEASE_NS 1000000ll
#define LEASE_PER_THREAD_NS 5000ll

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

/* So many threads can wait at a time, and no longer than the lease. */
void quiet_measure_lease(struct quiet *quiet)
{
	struct uspl_word *lease = &quiet->lease;
	int64_t all;

	lease->decider = quiet->decider->word;
	lease->turns = gate_turns(quiet_lease_ns(quiet));
	all = (int64_t)lease->turns * sysconf(_SC_NPROCESSORS_ONLN);
	lease->all_turns = all > 0 && all < INT32_MAX ? (int32_t)all : INT32_MAX;
}

/*
 * The lease first, and no verdict: who finds the word holding must find a lease to wait for, and
 * nothing that an earlier switch has left.
 */
int quiet_close_gates(const struct quiet *quiet, struct uspl_err *err)
{
	const size_t rest = offsetof(struct uspl_word, verdict);
	const struct proc *proc = quiet->t->proc;
	taddr word = quiet->decider->word;
	uint8_t hold = (uint8_t)(quiet_word_from(quiet) | USPL_WORD_HOLD);
	struct stop *stop = &quiet->run->stop;
	int rc = proc_write(proc, word + rest, (const uint8_t *)&quiet->lease + rest,
			    sizeof(quiet->lease) - rest, err);

	/* From here on somebody may be waiting. */
	if (!stop->entered_ns)
		stop->entered_ns = clock_now_ns();
	if (!rc)
		rc = proc_write(proc, word + offsetof(struct uspl_word, value), &hold, sizeof(hold),
				err);
	/* Before the counts are read. The other side's barrier is the scheduler's. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return rc;
}

/*
 * True in *ret_holds if the word is `value`, or will be, whoever goes on from here: the lease was not
 * over before the verdict came. Whoever waits swaps both bytes in one piece, but we may read one
 * before that and the other one after it: a hold without the verdict, which can't be. Then again.
 */
static int read_decision(const struct quiet *quiet, enum uspl_word_value value, bool *ret_holds,
			 struct uspl_err *err)
{
	uint8_t both[2];
	int rc;

	do {
		rc = proc_read(quiet->t->proc,
			       quiet->decider->word + offsetof(struct uspl_word, value), both,
			       sizeof(both), err);
	} while (!rc && both[0] & USPL_WORD_HOLD && !both[1]);
	*ret_holds = !rc && (both[0] == value || both[0] & USPL_WORD_HOLD);
	return rc;
}

int quiet_decide(struct quiet *quiet, enum uspl_word_value value, struct uspl_err *err)
{
	const struct proc *proc = quiet->t->proc;
	uint8_t verdict = (uint8_t)(USPL_VERDICT_OLD | value), said = (uint8_t)value;
	taddr word = quiet->decider->word;
	bool holds = false;
	int rc = proc_write(proc, word + offsetof(struct uspl_word, verdict), &verdict,
			    sizeof(verdict), err);

	if (!rc)
		rc = read_decision(quiet, value, &holds, err);
	/* The verdict may be there: what it decides, nobody knows. */
	quiet->undecided = rc != 0;
	/* So that gates need not look further. What fails here the next command finds, and reads as this. */
	if (holds && proc_write(proc, word + offsetof(struct uspl_word, value), &said, sizeof(said),
				NULL) != 0)
		log_info("quiet", "the word keeps its verdict beside it");
	if (value == quiet_word_to(quiet))
		quiet->run->switched = holds;
	return rc;
}
