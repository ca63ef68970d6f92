// SPDX-License-Identifier: GPL-3.0-or-later
// asleep_count.c - which of the sleepers have run since they were looked at
/*
 * The sum of all run counts (taskstats) is one number for a question about all threads: has any
 * sleeper run since the look? Counts only grow. So if
 *
 *     sum = dead + the sleepers' counts as looked at + the cleared threads' counts
 *
 * none of them has grown. `dead` is what threads that are no more have left in the sum. It grows
 * only, and is at least 0, which is all that needs to be known of a process whose threads live on.
 * Otherwise it is found at the look: sum minus the counts of all living threads, read one by one
 * before the sum (at most that much), and after it (at least that much). The lower bound is kept:
 * a `dead` that is too small makes the equation fail, never hold. The figure would be too large if
 * an unlisted thread were in the sum; so no thread may have been born between counting the threads
 * and the sum, which the last process id given out tells (/proc/loadavg).
 *
 * A thread in its exit is in the sum twice for a moment. It is not asleep then, nor can it be
 * stopped, so that asleep_unchanged says no as long as it is there; and when it is gone, the bound
 * holds.
 */

#include "thread/asleep_count.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often the threads' counts are read to find `dead` exactly. */
#define ROUNDS 3

size_t asleep_count_threads(const struct asleep *asleep)
{
	struct stat st;

	return fstat(asleep->task_fd, &st) == 0 ? tasks_linked(&st) : 0;
}

/* The last process or thread id that was given out, in our namespace; 0 if it can't be read. */
static long last_id(const struct asleep *asleep)
{
	char text[128];
	ssize_t n = pread(asleep->loadavg_fd, text, sizeof(text) - 1, 0);
	const char *blank;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	blank = strrchr(text, ' ');
	return blank ? atol(blank) : 0;
}

/* The sum of the threads' counts, read one by one. False if one is gone. */
static bool add_counts(const struct asleep *asleep, uint64_t *ret)
{
	const struct asleep_thread *thread;
	uint64_t total = 0;

	vec_for_each (&asleep->threads, thread) {
		uint64_t runs = runcount_read(&thread->count, asleep->proc);

		if (runs == RUNCOUNT_NONE)
			return false;
		total += runs;
	}
	*ret = total;
	return true;
}

bool asleep_has_sum(const struct asleep *asleep)
{
	const struct asleep_thread *thread;

	/* A kernel's worker runs when it likes, and a zombie isn't in the sum. */
	vec_for_each (&asleep->threads, thread)
		if (thread->class == ASLEEP_NO_CODE)
			return false;
	return asleep->sum.link.fd >= 0;
}

void asleep_find_dead(struct asleep *asleep)
{
	asleep->dead_known = false;
	for (int i = 0; i < ROUNDS && !asleep->dead_known && asleep_has_sum(asleep); i++) {
		uint64_t before, sum, after;
		long id;

		if (!add_counts(asleep, &before))
			return;
		id = last_id(asleep);
		if (!id || asleep_count_threads(asleep) != asleep->threads.n ||
		    !runcount_sum_read(&asleep->sum, &sum) || last_id(asleep) != id ||
		    !add_counts(asleep, &after))
			continue;
		if (sum >= after && sum - after > asleep->dead)
			asleep->dead = sum - after;
		asleep->dead_known = sum - before == asleep->dead;
	}
}

bool asleep_sleeps_on(const struct asleep *asleep, const struct asleep_thread *thread)
{
	return thread->class == ASLEEP_SLEEPS &&
	       runcount_read(&thread->count, asleep->proc) == thread->runs;
}

/*
 * If each of those that we know is there after they were counted, it was there when they were, and
 * if they were as many, there was no other.
 */
bool asleep_is_complete(struct asleep *asleep)
{
	const struct asleep_thread *thread;

	asleep->stale = asleep_count_threads(asleep) != asleep->threads.n;
	/* There was no other, and none has been born anywhere since. */
	if (!asleep->stale && asleep->last_id && last_id(asleep) == asleep->last_id)
		return true;
	vec_for_each (&asleep->threads, thread)
		asleep->stale = asleep->stale ||
				runcount_read(&thread->count, asleep->proc) == RUNCOUNT_NONE;
	return !asleep->stale;
}

/* One by one: no sleeper has run, and no other thread has taken the place of one without code. */
static bool counts_unchanged(const struct asleep *asleep)
{
	const struct asleep_thread *thread;

	vec_for_each (&asleep->threads, thread) {
		if (thread->cleared)
			continue;
		if (thread->class == ASLEEP_NO_CODE
			    ? runcount_read(&thread->count, asleep->proc) == RUNCOUNT_NONE
			    : !asleep_sleeps_on(asleep, thread))
			return false;
	}
	return true;
}

void asleep_add_up(struct asleep *asleep)
{
	const struct asleep_thread *thread;

	asleep->asleep_runs = 0;
	asleep->others.n = 0;
	asleep->added_up = asleep_has_sum(asleep);
	for (size_t i = 0; asleep->added_up && i < asleep->threads.n; i++) {
		size_t *other;

		thread = &asleep->threads.items[i];
		if (thread->class == ASLEEP_SLEEPS && !thread->cleared) {
			asleep->asleep_runs += thread->runs;
			continue;
		}
		other = vec_push(&asleep->others);
		if (other)
			*other = i;
		else
			asleep->added_up = false;
	}
}

/*
 * Adds the count of a thread that doesn't sleep. Read before the sum, it can't hide another's run.
 * False if it isn't cleared, or is gone: it may have been so when the threads were counted, and
 * another one there.
 */
static bool add_cleared(const struct asleep *asleep, const struct asleep_thread *thread,
			uint64_t *want)
{
	uint64_t runs =
		thread->cleared ? runcount_read(&thread->count, asleep->proc) : RUNCOUNT_NONE;

	*want += runs;
	return runs != RUNCOUNT_NONE;
}

/*
 * What the sum is if no sleeper has run; false if that can't be so. *ret_cleared: how many don't
 * sleep.
 */
static bool expect_sum(const struct asleep *asleep, uint64_t *ret, size_t *ret_cleared)
{
	const struct asleep_thread *thread;
	const size_t *other;

	*ret_cleared = 0;
	*ret = asleep->dead;
	if (asleep->added_up) {
		*ret += asleep->asleep_runs;
		*ret_cleared = asleep->others.n;
		vec_for_each (&asleep->others, other)
			if (!add_cleared(asleep, &asleep->threads.items[*other], ret))
				return false;
		return true;
	}
	vec_for_each (&asleep->threads, thread) {
		if (thread->cleared || thread->class == ASLEEP_RUNS) {
			if (!add_cleared(asleep, thread, ret))
				return false;
			++*ret_cleared;
		} else {
			*ret += thread->runs;
		}
	}
	return true;
}

bool asleep_unchanged(struct asleep *asleep)
{
	uint64_t want, sum;
	size_t n_cleared;

	/*
	 * First of all: a thread that we don't know can make up for one that is gone, but the one
	 * that is gone is missed below.
	 */
	if (asleep_count_threads(asleep) != asleep->threads.n ||
	    !expect_sum(asleep, &want, &n_cleared))
		return false;
	if (n_cleared == asleep->threads.n)
		return true;
	if ((!asleep->added_up && !asleep_has_sum(asleep)) ||
	    !runcount_sum_read(&asleep->sum, &sum))
		return counts_unchanged(asleep);
	return sum == want || (!asleep->dead_known && counts_unchanged(asleep));
}

/*
 * As in asleep_unchanged, with counts that are read now for those whose count may have grown. They
 * are read before the sum, so that what one of them does in between makes the sum too large, and
 * can't hide another's run. A thread that was born makes it too large as well, or is one more of
 * them.
 */
bool asleep_find_ran(struct asleep *asleep)
{
	struct asleep_thread *thread;
	uint64_t want = asleep->dead, sum;
	long id = last_id(asleep);

	asleep->last_id = 0;
	if (!asleep_has_sum(asleep) || asleep_count_threads(asleep) != asleep->threads.n)
		return false;
	vec_for_each (&asleep->threads, thread) {
		bool still =
			thread->class == ASLEEP_SLEEPS && !thread->cleared && !thread->restless;
		uint64_t runs = still ? thread->runs : runcount_read(&thread->count, asleep->proc);

		if (runs == RUNCOUNT_NONE)
			return false;
		thread->ran = runs != thread->runs;
		want += runs;
	}
	if (!runcount_sum_read(&asleep->sum, &sum) || sum != want)
		return false;
	asleep->last_id = id;
	return true;
}
