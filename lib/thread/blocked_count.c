// SPDX-License-Identifier: GPL-3.0-or-later
// blocked_count.c - which of the sleepers have run since they were looked at
/*
 * The sum of all run counts (taskstats) is one number for a question about all threads: has any
 * sleeper run since the look? Counts only grow. So if
 *
 *     sum = dead + the sleepers' counts as looked at + the accounted threads' counts
 *
 * none of them has grown. `dead` is what threads that have ended left in the sum. It only grows,
 * and is at least 0; no more needs to be known of a process whose threads live on. Otherwise it is
 * found at the look: sum minus the counts of all living threads, read one by one before the sum (at
 * most that much), and after it (at least that much). The lower bound is kept:
 * a `dead` that is too small makes the equation fail, never hold. The figure would be too large if
 * an unlisted thread were in the sum; so no thread may have been born between counting the threads
 * and the sum, which the last process id given out tells (/proc/loadavg).
 *
 * A thread in its exit is in the sum twice for a moment. It is not asleep then, nor can it be
 * stopped, so that blocked_unchanged says no as long as it is there; and when it is gone, the bound
 * holds.
 */

#include "thread/blocked_count.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often the threads' counts are read to find `dead` exactly. */
#define ROUNDS 3

size_t blocked_count_threads(const struct blocked *blocked)
{
	struct stat st;

	return fstat(blocked->task_fd, &st) == 0 ? tasks_linked(&st) : 0;
}

/*
 * The last process or thread id that was given out, in the tool's namespace; 0 if it can't be read.
 */
static long last_id(const struct blocked *blocked)
{
	char text[128];
	ssize_t n = pread(blocked->loadavg_fd, text, sizeof(text) - 1, 0);
	const char *blank;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	blank = strrchr(text, ' ');
	return blank ? atol(blank) : 0;
}

/* The sum of the threads' counts, read one by one. False if one is gone. */
static bool add_counts(const struct blocked *blocked, uint64_t *ret)
{
	const struct blocked_thread *thread;
	uint64_t total = 0;

	vec_for_each (&blocked->threads, thread) {
		uint64_t runs = runcount_read(&thread->count, blocked->proc);

		if (runs == RUNCOUNT_NONE)
			return false;
		total += runs;
	}
	*ret = total;
	return true;
}

bool blocked_has_sum(const struct blocked *blocked)
{
	const struct blocked_thread *thread;

	/* A kernel's worker runs when it likes, and a zombie isn't in the sum. */
	vec_for_each (&blocked->threads, thread)
		if (thread->class == BLOCKED_NO_CODE)
			return false;
	return blocked->sum.link.fd >= 0;
}

void blocked_find_dead(struct blocked *blocked)
{
	blocked->dead_known = false;
	for (int i = 0; i < ROUNDS && !blocked->dead_known && blocked_has_sum(blocked); i++) {
		uint64_t before, sum, after;
		long id;

		if (!add_counts(blocked, &before))
			return;
		id = last_id(blocked);
		if (!id || blocked_count_threads(blocked) != blocked->threads.n ||
		    !runcount_sum_read(&blocked->sum, &sum) || last_id(blocked) != id ||
		    !add_counts(blocked, &after))
			continue;
		if (sum >= after && sum - after > blocked->dead)
			blocked->dead = sum - after;
		blocked->dead_known = sum - before == blocked->dead;
	}
}

bool blocked_stays(const struct blocked *blocked, const struct blocked_thread *thread)
{
	return thread->class == BLOCKED_SLEEPS &&
	       runcount_read(&thread->count, blocked->proc) == thread->runs;
}

/*
 * If each known thread is there after the threads were counted, it was there at the count, and if
 * the count was the same, there was no other.
 */
bool blocked_is_complete(struct blocked *blocked)
{
	const struct blocked_thread *thread;

	blocked->stale = blocked_count_threads(blocked) != blocked->threads.n;
	/* There was no other, and none has been born anywhere since. */
	if (!blocked->stale && blocked->last_id && last_id(blocked) == blocked->last_id)
		return true;
	vec_for_each (&blocked->threads, thread)
		blocked->stale = blocked->stale ||
				 runcount_read(&thread->count, blocked->proc) == RUNCOUNT_NONE;
	return !blocked->stale;
}

/*
 * Asks one by one: no sleeper has run, and no other thread has taken the place of one without code.
 */
static bool counts_unchanged(const struct blocked *blocked)
{
	const struct blocked_thread *thread;

	vec_for_each (&blocked->threads, thread) {
		if (thread->accounted)
			continue;
		if (thread->class == BLOCKED_NO_CODE
			    ? runcount_read(&thread->count, blocked->proc) == RUNCOUNT_NONE
			    : !blocked_stays(blocked, thread))
			return false;
	}
	return true;
}

void blocked_add_up(struct blocked *blocked)
{
	const struct blocked_thread *thread;

	blocked->blocked_runs = 0;
	blocked->others.n = 0;
	blocked->added_up = blocked_has_sum(blocked);
	for (size_t i = 0; blocked->added_up && i < blocked->threads.n; i++) {
		size_t *other;

		thread = &blocked->threads.items[i];
		if (thread->class == BLOCKED_SLEEPS && !thread->accounted) {
			blocked->blocked_runs += thread->runs;
			continue;
		}
		other = vec_push(&blocked->others);
		if (other)
			*other = i;
		else
			blocked->added_up = false;
	}
}

/*
 * Adds the count of a thread that doesn't sleep. Read before the sum, it can't hide another's run.
 * False if it isn't accounted for, or is gone: it may have been gone when the threads were counted,
 * and another one there.
 */
static bool add_accounted(const struct blocked *blocked, const struct blocked_thread *thread,
			  uint64_t *want)
{
	uint64_t runs =
		thread->accounted ? runcount_read(&thread->count, blocked->proc) : RUNCOUNT_NONE;

	*want += runs;
	return runs != RUNCOUNT_NONE;
}

/*
 * What the sum is if no sleeper has run; false if that can't be so. *ret_accounted: how many don't
 * sleep.
 */
static bool expect_sum(const struct blocked *blocked, uint64_t *ret, size_t *ret_accounted)
{
	const struct blocked_thread *thread;
	const size_t *other;

	*ret_accounted = 0;
	*ret = blocked->dead;
	if (blocked->added_up) {
		*ret += blocked->blocked_runs;
		*ret_accounted = blocked->others.n;
		vec_for_each (&blocked->others, other)
			if (!add_accounted(blocked, &blocked->threads.items[*other], ret))
				return false;
		return true;
	}
	vec_for_each (&blocked->threads, thread) {
		if (thread->accounted || thread->class == BLOCKED_RUNS) {
			if (!add_accounted(blocked, thread, ret))
				return false;
			++*ret_accounted;
		} else {
			*ret += thread->runs;
		}
	}
	return true;
}

bool blocked_unchanged(struct blocked *blocked)
{
	uint64_t want, sum;
	size_t n_accounted;

	/*
	 * First of all: an unknown thread can make up for one that is gone, but the missing one is
	 * noticed below.
	 */
	if (blocked_count_threads(blocked) != blocked->threads.n ||
	    !expect_sum(blocked, &want, &n_accounted))
		return false;
	if (n_accounted == blocked->threads.n)
		return true;
	if ((!blocked->added_up && !blocked_has_sum(blocked)) ||
	    !runcount_sum_read(&blocked->sum, &sum))
		return counts_unchanged(blocked);
	return sum == want || (!blocked->dead_known && counts_unchanged(blocked));
}

/*
 * As in blocked_unchanged, with counts that are read now for those whose count may have grown. They
 * are read before the sum, so that what one of them does in between makes the sum too large, and
 * can't hide another's run. A thread that was born makes it too large as well, or is one more of
 * them.
 */
bool blocked_find_ran(struct blocked *blocked)
{
	struct blocked_thread *thread;
	uint64_t want = blocked->dead, sum;
	long id = last_id(blocked);

	blocked->last_id = 0;
	if (!blocked_has_sum(blocked) || blocked_count_threads(blocked) != blocked->threads.n)
		return false;
	vec_for_each (&blocked->threads, thread) {
		bool still = thread->class == BLOCKED_SLEEPS && !thread->accounted &&
			     !thread->recently_ran;
		uint64_t runs = still ? thread->runs : runcount_read(&thread->count, blocked->proc);

		if (runs == RUNCOUNT_NONE)
			return false;
		thread->ran = runs != thread->runs;
		want += runs;
	}
	if (!runcount_sum_read(&blocked->sum, &sum) || sum != want)
		return false;
	blocked->last_id = id;
	return true;
}
