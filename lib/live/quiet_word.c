// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_word.c - the word that decides in a quiet switch: held with a lease, and what it is to be

#include <stddef.h>

#include "base/log.h"
#include "live/quiet.h"

/* What the kernel had no memory for, say, is tried again: nobody else can do it. */
#define TRIES 5
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
 * Both bytes, after the verdict has been written, or not. Whoever waits swaps both in one piece, but we
 * may read one before that and the other one after it: a hold without the verdict, which can't be. Then
 * again.
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
void quiet_open_gates(const struct quiet *quiet)
{
	uint8_t from = (uint8_t)quiet_word_from(quiet);

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
	/* So that gates need not look further. What fails here the next command finds, and reads as this. */
	if (quiet->run->switched &&
	    write_byte(quiet, offsetof(struct uspl_word, value), to, NULL) != 0)
		log_info("quiet", "the word keeps its verdict beside it");
	return 0;
}
