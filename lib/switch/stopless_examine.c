// SPDX-License-Identifier: GPL-3.0-or-later
// stopless_examine.c - threads in the way of a stopless switch: sleepers where they sleep, others
// in a stop

#include "proc/task.h"
#include "switch/stopless.h"

/*
 * So many threads may run between a look and the next step, and one in so many of all threads
 * besides: with more of them it takes longer to find out. How often to look for such a moment.
 */
#define RECENTLY_RAN_MAX 12
#define RECENTLY_RAN_SHARE 64
#define RECENTLY_RAN_LOOKS 4
/* How often to look for a moment at which no thread has run since. */
#define SETTLE_LOOKS 10
/* How often to look at sleepers that have run before they are stopped, for slots. */
#define GATHER_LOOKS 4

/*
 * Checks the sleepers that have not been found free yet. One about which there is doubt is counted
 * among those that run: stopped, its stack can be followed with all registers. So is one that is in
 * the way and whose whole chain of calls is wanted, or that is to have a slot.
 */
void stopless_check_sleepers(struct stopless *stopless)
{
	struct blocked_thread *thread;

	vec_for_each (&stopless->blocked.threads, thread) {
		struct safety_finding *finding = backend_next_finding(stopless->run);

		if (thread->class != BLOCKED_SLEEPS || thread->checked || thread->accounted)
			continue;
		thread->checked = safety_check_blocked(&stopless->run->safety, thread, finding);
		if (!thread->checked && finding->proven && !stopless->gathers &&
		    (finding->whole || !stopless->looks))
			backend_add_finding(stopless->run);
		else if (!thread->checked)
			thread->class = BLOCKED_RUNS;
	}
	stopless->run->checked_ns = clock_now_ns();
}

int stopless_examine(struct stopless *stopless, struct uspl_err *err)
{
	int rc = blocked_look(&stopless->blocked, err);

	if (rc)
		return rc;
	stopless_check_sleepers(stopless);
	return 0;
}

int stopless_examine_again(struct stopless *stopless, struct uspl_err *err)
{
	int rc = blocked_look_again(&stopless->blocked, err);

	if (rc)
		return rc;
	stopless_check_sleepers(stopless);
	return 0;
}

/* How many of the sleepers have run, by blocked_find_ran. */
static size_t count_ran(const struct stopless *stopless)
{
	const struct blocked_thread *thread;
	size_t n = 0;

	vec_for_each (&stopless->blocked.threads, thread)
		n += thread->class == BLOCKED_SLEEPS && thread->ran;
	return n;
}

/* How many sleepers have run since they were looked at. */
static size_t count_recently_ran(struct stopless *stopless)
{
	const struct blocked_thread *thread;
	int64_t began_ns = clock_now_ns();
	size_t n = 0;

	if (blocked_find_ran(&stopless->blocked))
		n = count_ran(stopless);
	else
		vec_for_each (&stopless->blocked.threads, thread)
			n += thread->class == BLOCKED_SLEEPS &&
			     !blocked_stays(&stopless->blocked, thread);
	stopless->count_ns = clock_now_ns() - began_ns;
	return n;
}

/*
 * Looks until no sleeper has run since it was looked at: as a rule that holds for a little longer.
 * The kernel's data of all threads is in the tool's processor's cache then.
 */
static int await_settled(struct stopless *stopless, struct uspl_err *err)
{
	int rc = 0;

	for (int look = 0; look < SETTLE_LOOKS && !stopless->run->n_findings; look++) {
		bool known = blocked_find_ran(&stopless->blocked);

		if (known && !count_ran(stopless))
			break;
		if (known)
			blocked_look_at_ran(&stopless->blocked);
		else {
			rc = blocked_look_again(&stopless->blocked, err);
			if (rc)
				return rc;
		}
		stopless_check_sleepers(stopless);
	}
	return 0;
}

/*
 * A look at a thousand threads takes a millisecond and more, in which each thread that wakes up a
 * thousand times a second has run. So only the threads that have run are looked at, which is quick,
 * before they are counted once more.
 */
static bool have_few_run_recently(struct stopless *stopless)
{
	size_t most = RECENTLY_RAN_MAX + stopless->blocked.threads.n / RECENTLY_RAN_SHARE;

	if (count_recently_ran(stopless) <= most)
		return true;
	if (!blocked_has_sum(&stopless->blocked))
		return false;
	blocked_look_at_ran(&stopless->blocked);
	stopless_check_sleepers(stopless);
	return count_recently_ran(stopless) <= most;
}

int stopless_settle_down(struct stopless *stopless, struct uspl_err *err)
{
	for (int look = 0; look < RECENTLY_RAN_LOOKS; look++) {
		int rc = stopless_examine_again(stopless, err);

		if (rc || stopless->run->n_findings)
			return rc;
		if (have_few_run_recently(stopless))
			return blocked_has_sum(&stopless->blocked) ? await_settled(stopless, err)
								   : 0;
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED, "too many threads of pid %d wake up all the time",
			 stopless->t->proc->pid);
}

void stopless_ask_stuck(struct stopless *stopless)
{
	struct blocked_thread *thread, *stuck = NULL;

	vec_for_each (&stopless->blocked.threads, thread) {
		if (thread->class == BLOCKED_NO_CODE)
			continue;
		if (task_state(stopless->t->proc, thread->tid) != 'D')
			return;
		stuck = thread;
	}
	if (stuck)
		stuck->class = BLOCKED_RUNS;
}

bool stopless_slot_of(const struct stopless *stopless, const struct thread *thread,
		      const struct safety_finding *finding, struct uspl_slot *ret)
{
	struct safety_finding unused, left;

	/* In code that it need not leave: by a slot it would meet the other one. */
	if (stopless->run->leaving.ranges.n) {
		if (safety_check(&stopless->run->leaving, thread, &left))
			return false;
		finding = &left;
	}
	/* A thread that is in a trampoline is on its way: a moment later it has arrived. */
	if (!finding->proven || !finding->complete || !finding->return_sp || finding->in_handler ||
	    !safety_check(&stopless->run->passing, thread, &unused))
		return false;
	*ret = (struct uspl_slot){ .thread = regs_tcb(&thread->regs),
				   .low = finding->return_sp - sizeof(taddr),
				   .high = finding->near_sp };
	return ret->thread;
}

/* Of a stopped thread that is in the way. */
static void note_slot(struct stopless *stopless, const struct thread *thread,
		      const struct safety_finding *finding)
{
	struct stopless_slot *slot;
	struct uspl_slot raw = { 0 };

	stopless->gathered = stopless->gathered && stopless->slots.n < USPL_SLOTS_MAX &&
			     stopless_slot_of(stopless, thread, finding, &raw);
	vec_for_each (&stopless->slots, slot)
		stopless->gathered = stopless->gathered && slot->raw.thread != raw.thread;
	slot = stopless->gathered ? vec_push(&stopless->slots) : NULL;
	stopless->gathered = slot;
	if (slot)
		*slot = (struct stopless_slot){ .tid = thread->tid, .raw = raw };
}

int stopless_stop_running(struct stopless *stopless, int64_t deadline, struct uspl_err *err)
{
	size_t first = stopless->run->stop.threads.n;
	const struct blocked_thread *running;
	auto_vec tid_vec tids = { 0 };
	pid_t *item;
	int rc;

	vec_for_each (&stopless->blocked.threads, running) {
		if (running->class != BLOCKED_RUNS || running->accounted)
			continue;
		item = vec_push(&tids);
		if (!item)
			return uspl_fail_nomem(err);
		*item = running->tid;
	}
	rc = stop_some(&stopless->run->stop, &tids, deadline, err);
	for (size_t i = first; !rc && i < stopless->run->stop.threads.n; i++) {
		const struct thread *thread = &stopless->run->stop.threads.items[i];
		struct blocked_thread *known = blocked_find(&stopless->blocked, thread->tid);
		struct safety_finding *finding;

		if (thread->state != THREAD_STOPPED)
			continue;
		if (known) {
			known->accounted = true;
			known->regs.value[DWARF_SP] = regs_sp(&thread->regs);
		}
		finding = backend_next_finding(stopless->run);
		if (safety_check(&stopless->run->safety, thread, finding))
			continue;
		if (stopless->gathers)
			note_slot(stopless, thread, finding);
		backend_add_finding(stopless->run);
	}
	stopless->run->checked_ns = clock_now_ns();
	return rc;
}

/*
 * With the trampolines closed, a thread that is outside the code stays outside, whatever it does.
 * So it is enough that each thread was seen outside at one moment since: that holds for a sleeper
 * that was found free before and has not run by now. True if no other is left.
 */
static bool account_sleepers(struct stopless *stopless)
{
	struct blocked_thread *thread;
	bool all = true;

	vec_for_each (&stopless->blocked.threads, thread) {
		if (!thread->accounted && thread->checked) {
			thread->accounted = blocked_stays(&stopless->blocked, thread);
			thread->ran = !thread->accounted;
		}
		all &= thread->accounted || thread->class == BLOCKED_NO_CODE;
	}
	return all;
}

/* The same for all that have not run, as long as only few have. */
static bool account_by_sum(struct stopless *stopless)
{
	struct blocked_thread *thread;

	if (!blocked_find_ran(&stopless->blocked))
		return false;
	vec_for_each (&stopless->blocked.threads, thread)
		thread->accounted |=
			thread->class == BLOCKED_SLEEPS && thread->checked && !thread->ran;
	return true;
}

bool stopless_account_sleepers(struct stopless *stopless, bool *counted)
{
	if (!*counted && blocked_has_sum(&stopless->blocked)) {
		*counted = account_by_sum(stopless);
		return *counted;
	}
	account_sleepers(stopless);
	return true;
}

bool stopless_stacks_are_own(const struct stopless *stopless)
{
	const struct blocked_thread *thread;
	const struct inactive_stack *stack;

	vec_for_each (&stopless->stacks, stack) {
		bool own = false;

		vec_for_each (&stopless->blocked.threads, thread) {
			taddr sp = thread->regs.value[DWARF_SP];

			own |= thread->class != BLOCKED_NO_CODE && sp >= stack->start &&
			       sp < stack->end;
		}
		if (!own)
			return false;
	}
	return true;
}

void stopless_forget_accounted(struct stopless *stopless)
{
	struct blocked_thread *thread;

	vec_for_each (&stopless->blocked.threads, thread)
		thread->accounted = false;
}

/* A thread in the way ends the recount, unless it can have a slot. */
static bool may_go_on(const struct stopless *stopless)
{
	return stopless->gathers ? stopless->gathered : !stopless->run->n_findings;
}

int stopless_recount(struct stopless *stopless, int64_t deadline, bool *ret_empty,
		     struct uspl_err *err)
{
	bool empty = blocked_unchanged(&stopless->blocked);
	int rc = 0, looks = 0;

	if (!empty)
		account_by_sum(stopless);
	while (!rc && !empty && may_go_on(stopless) && clock_now_ns() < deadline) {
		empty = account_sleepers(stopless) && blocked_is_complete(&stopless->blocked);
		if (empty)
			break;
		rc = stopless_examine_again(stopless, err);
		/* Where there is time those that have woken up may be asleep again. */
		if (stopless->gathers && ++looks < GATHER_LOOKS)
			continue;
		if (!rc && may_go_on(stopless))
			rc = stopless_stop_running(stopless, deadline, err);
	}
	*ret_empty = !rc && empty;
	return rc;
}
