// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_word.c - the deciding word of a quiet switch: held with a lease, and swapped by a thread of the target

#include <stddef.h>

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

/* The lease first: who finds the word holding must find a lease to wait for. */
int quiet_close_gates(const struct quiet *quiet, struct uspl_err *err)
{
	const size_t turns = offsetof(struct uspl_word, turns);
	const struct proc *proc = quiet->t->proc;
	taddr word = quiet->decider->word;
	uint8_t hold = (uint8_t)(quiet_word_from(quiet) | USPL_WORD_HOLD);
	int rc = proc_write(proc, word + turns, &quiet->lease.turns, sizeof(quiet->lease) - turns,
			    err);

	if (!rc)
		rc = proc_write(proc, word + offsetof(struct uspl_word, value), &hold, sizeof(hold),
				err);
	/* Before the counts are read. The other side's barrier is the scheduler's. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return rc;
}

int quiet_begin_swap(struct quiet *quiet, enum uspl_word_value to, struct uspl_err *err)
{
	struct thread *host = stop_host(&quiet->run->stop);
	int rc;

	if (!host)
		return uspl_fail(err, USPL_E_UNSTOPPABLE, "no thread of pid %d can make the switch",
				 quiet->t->proc->pid);
	quiet->swap = (struct inject_req){ .kind = INJECT_SWAP,
					   .what = quiet->decider->word +
						   offsetof(struct uspl_word, value),
					   .args = { quiet_word_from(quiet) | USPL_WORD_HOLD, to },
					   .result = -1 };
	quiet->commits = to == quiet_word_to(quiet);
	rc = inject_begin(quiet->agent, host, gates_slate(quiet->decider), &quiet->swap, 1, err);
	if (rc)
		return rc;
	/* Where there are more threads than processors it would otherwise have to wait for the others. */
	stop_let_go(&quiet->run->stop, host);
	inject_await(quiet->agent, clock_now_ns() + quiet_lease_ns(quiet));
	return 0;
}

int quiet_end_swap(struct quiet *quiet, int rc, struct uspl_err *err)
{
	int ended = inject_end(quiet->agent, rc ? NULL : err);
	uint8_t now;

	if (!rc)
		rc = ended;
	quiet->stuck |= inject_agent_is_stuck(quiet->agent);
	if (!quiet->commits)
		return rc;
	if (!rc)
		quiet->run->switched = quiet->swap.result == (int64_t)quiet->swap.args[0];
	/* It may have been made before the failure. Nobody but the thread writes that value. */
	if (rc && proc_read(quiet->t->proc, quiet->swap.what, &now, 1, NULL) == 0 &&
	    now == quiet_word_to(quiet)) {
		quiet->run->switched = true;
		return 0;
	}
	quiet->undecided = rc && inject_agent_is_stuck(quiet->agent);
	return rc;
}
