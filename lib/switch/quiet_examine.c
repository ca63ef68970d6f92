// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_examine.c - who is in the way of a quiet switch: sleepers where they sleep, those that run
// in a stop

#include "proc/task.h"
#include "switch/quiet.h"

/*
 * So many may run between a look and the next step, and one in so many of all threads besides: to
 * find out takes longer with more of them. How often to look for such a moment.
 */
#define RESTLESS_MAX 12
#define RESTLESS_SHARE 64
#define RESTLESS_LOOKS 4
/* How often to look for a moment at which nobody has run since. */
#define CALM_LOOKS 10

/*
 * Checks the sleepers that have not been found free yet. One about which there is doubt is counted
 * among those that run: stopped, its stack can be followed with all registers. So is one who is in
 * the way and whose whole chain of calls is wanted.
 */
void quiet_check_sleepers(struct quiet *quiet)
{
	struct asleep_thread *thread;

	vec_for_each (&quiet->asleep.threads, thread) {
		struct safety_finding *finding = backend_next_finding(quiet->run);

		if (thread->class != ASLEEP_SLEEPS || thread->clean || thread->cleared)
			continue;
		thread->clean = safety_check_asleep(&quiet->run->safety, thread, finding);
		if (!thread->clean && finding->proven && (finding->whole || !quiet->looks))
			backend_add_finding(quiet->run);
		else if (!thread->clean)
			thread->class = ASLEEP_RUNS;
	}
	quiet->run->checked_ns = clock_now_ns();
}

int quiet_examine(struct quiet *quiet, struct uspl_err *err)
{
	int rc = asleep_look(&quiet->asleep, err);

	if (!rc)
		quiet_check_sleepers(quiet);
	return rc;
}

int quiet_examine_again(struct quiet *quiet, struct uspl_err *err)
{
	int rc = asleep_look_again(&quiet->asleep, err);

	if (!rc)
		quiet_check_sleepers(quiet);
	return rc;
}

/* Of the sleepers, by asleep_find_ran. */
static size_t count_ran(const struct quiet *quiet)
{
	const struct asleep_thread *thread;
	size_t n = 0;

	vec_for_each (&quiet->asleep.threads, thread)
		n += thread->class == ASLEEP_SLEEPS && thread->ran;
	return n;
}

/* How many sleepers have run since they were looked at. */
static size_t count_restless(struct quiet *quiet)
{
	const struct asleep_thread *thread;
	size_t n = 0;

	if (asleep_find_ran(&quiet->asleep))
		return count_ran(quiet);
	vec_for_each (&quiet->asleep.threads, thread)
		n += thread->class == ASLEEP_SLEEPS && !asleep_sleeps_on(&quiet->asleep, thread);
	return n;
}

/*
 * Until there is a moment at which no sleeper has run since it was looked at: as a rule that holds
 * for a little longer. The kernel's data of all threads is in our processor's cache then.
 */
static int await_calm(struct quiet *quiet, struct uspl_err *err)
{
	int rc = 0;

	for (int look = 0; look < CALM_LOOKS && !rc && !quiet->run->n_findings; look++) {
		bool known = asleep_find_ran(&quiet->asleep);

		if (known && !count_ran(quiet))
			break;
		if (known)
			asleep_look_at_ran(&quiet->asleep);
		else
			rc = asleep_look_again(&quiet->asleep, err);
		if (!rc)
			quiet_check_sleepers(quiet);
	}
	return rc;
}

/*
 * A look at a thousand threads takes a millisecond and more, in which each thread that wakes up a
 * thousand times a second has run. So those that have are looked at by themselves, which is quick,
 * before they are counted once more.
 */
static bool are_few_restless(struct quiet *quiet)
{
	size_t most = RESTLESS_MAX + quiet->asleep.threads.n / RESTLESS_SHARE;

	if (count_restless(quiet) <= most)
		return true;
	if (!asleep_has_sum(&quiet->asleep))
		return false;
	asleep_look_at_ran(&quiet->asleep);
	quiet_check_sleepers(quiet);
	return count_restless(quiet) <= most;
}

int quiet_calm_down(struct quiet *quiet, struct uspl_err *err)
{
	for (int look = 0; look < RESTLESS_LOOKS; look++) {
		int rc = quiet_examine_again(quiet, err);

		if (rc || quiet->run->n_findings)
			return rc;
		if (are_few_restless(quiet))
			return asleep_has_sum(&quiet->asleep) ? await_calm(quiet, err) : 0;
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED, "too many threads of pid %d wake up all the time",
			 quiet->t->proc->pid);
}

void quiet_ask_stuck(struct quiet *quiet)
{
	struct asleep_thread *thread, *stuck = NULL;

	vec_for_each (&quiet->asleep.threads, thread) {
		if (thread->class == ASLEEP_NO_CODE)
			continue;
		if (task_state(quiet->t->proc, thread->tid) != 'D')
			return;
		stuck = thread;
	}
	if (stuck)
		stuck->class = ASLEEP_RUNS;
}

static int list_running(const struct quiet *quiet, tid_vec *ret, struct uspl_err *err)
{
	const struct asleep_thread *thread;
	pid_t *item;

	vec_for_each (&quiet->asleep.threads, thread) {
		if (thread->class != ASLEEP_RUNS || thread->cleared)
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = thread->tid;
	}
	return 0;
}

int quiet_stop_running(struct quiet *quiet, int64_t deadline, struct uspl_err *err)
{
	size_t first = quiet->run->stop.threads.n;
	tid_vec tids = { 0 };
	int rc = list_running(quiet, &tids, err);

	if (!rc)
		rc = stop_some(&quiet->run->stop, &tids, deadline, err);
	vec_release(&tids);
	for (size_t i = first; !rc && i < quiet->run->stop.threads.n; i++) {
		const struct thread *thread = &quiet->run->stop.threads.items[i];
		struct asleep_thread *known = asleep_find(&quiet->asleep, thread->tid);

		if (thread->state != THREAD_STOPPED)
			continue;
		if (known) {
			known->cleared = true;
			known->regs.value[DWARF_SP] = regs_sp(&thread->regs);
		}
		if (!safety_check(&quiet->run->safety, thread, backend_next_finding(quiet->run)))
			backend_add_finding(quiet->run);
	}
	quiet->run->checked_ns = clock_now_ns();
	return rc;
}

/*
 * With the gates closed, a thread that is outside the code stays outside, whatever it does. So it
 * is enough to know it of each thread at one moment since: a sleeper that was found free before and
 * has not run by now is. True if no other is left.
 */
static bool clear_sleepers(struct quiet *quiet)
{
	struct asleep_thread *thread;
	bool all = true;

	vec_for_each (&quiet->asleep.threads, thread) {
		if (!thread->cleared && thread->clean)
			thread->cleared = asleep_sleeps_on(&quiet->asleep, thread);
		all &= thread->cleared || thread->class == ASLEEP_NO_CODE;
	}
	return all;
}

/* The same for all who have not run, as long as only few have. */
static bool clear_by_sum(struct quiet *quiet)
{
	struct asleep_thread *thread;

	if (!asleep_find_ran(&quiet->asleep))
		return false;
	vec_for_each (&quiet->asleep.threads, thread)
		thread->cleared |= thread->class == ASLEEP_SLEEPS && thread->clean && !thread->ran;
	return true;
}

bool quiet_clear_sleepers(struct quiet *quiet)
{
	if (asleep_has_sum(&quiet->asleep))
		return clear_by_sum(quiet);
	clear_sleepers(quiet);
	return true;
}

bool quiet_stacks_are_own(const struct quiet *quiet)
{
	const struct asleep_thread *thread;
	const struct parked_stack *stack;

	vec_for_each (&quiet->stacks, stack) {
		bool own = false;

		vec_for_each (&quiet->asleep.threads, thread) {
			taddr sp = thread->regs.value[DWARF_SP];

			own |= thread->class != ASLEEP_NO_CODE && sp >= stack->start &&
			       sp < stack->end;
		}
		if (!own)
			return false;
	}
	return true;
}

int quiet_recount(struct quiet *quiet, int64_t deadline, bool *ret_empty, struct uspl_err *err)
{
	bool empty = asleep_unchanged(&quiet->asleep);
	int rc = 0;

	if (!empty)
		clear_by_sum(quiet);
	while (!rc && !empty && !quiet->run->n_findings && clock_now_ns() < deadline) {
		empty = clear_sleepers(quiet) && asleep_is_complete(&quiet->asleep);
		if (empty)
			break;
		rc = quiet_examine_again(quiet, err);
		if (!rc && !quiet->run->n_findings)
			rc = quiet_stop_running(quiet, deadline, err);
	}
	*ret_empty = !rc && empty;
	return rc;
}
