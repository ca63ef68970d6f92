// SPDX-License-Identifier: GPL-3.0-or-later
// waiter.c - waits for the moment at which busy functions are left
/*
 * Only a watch tells exactly of a return. But it doesn't tell everything:
 *
 *   - the function may be left without a return, by longjmp or an exception. So, now and then, an
 *     attempt is made without news, if the threads have run at all: one that has slept all the time
 *     is where it was;
 *   - it may have returned between the stop and the opening of the watch. A thread that is seen
 *     asleep deeper in its stack has not. For others the next stop decides, and by then the watch
 *     is old enough;
 *   - some returns can't be watched: the stack could not be followed, or the kernel refuses. Then
 *     the thread's run count tells when it has moved.
 */

#include "safety/waiter.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "thread/blocked_place.h"
#include "thread/runcount.h"
#include "thread/thread.h"

#define MS 1000000ll
/* The stop itself made the threads run; let them get back to where they were. */
#define SETTLE_NS (2 * MS)
/* How often an attempt is made without news: ever more rarely. */
#define SHORTEST_PATIENCE_NS (100 * MS)
#define LONGEST_PATIENCE_NS (1000 * MS)
/* How often a thread that can't be watched is looked at: ever more rarely. */
#define SHORTEST_LOOK_NS (MS / 2)
#define LONGEST_LOOK_NS (20 * MS)
/* How long the next return of a function that is called all the time may take. */
#define NEXT_RETURN_NS MS
/*
 * A thread that can't be watched is taken for one that returns and comes back once it has been
 * found in the same call for so long. Callers are held then. How soon it is noticed that one waits
 * depends on how often an attempt is made: a few times in a hold.
 */
#define GUESS_NS (300 * MS)
#define HELD_LOOK_NS (8 * MS)
/* The target runs at least this many times as long as it stood still. */
#define RUN_SHARE 9

/* Where a run count would be: the thread runs, or the kernel doesn't count. */
#define NOT_ASLEEP RUNCOUNT_NONE

/* How often the thread has been put on a processor. */
static uint64_t run_count(const struct proc *proc, pid_t tid)
{
	struct runcount count;
	uint64_t runs;

	runcount_open(&count, proc, tid);
	runs = runcount_read(&count, proc);
	runcount_close(&count);
	return runs;
}

static bool is_watched(const struct waiter_item *item)
{
	return item->breakpoint.fd >= 0;
}

/* It is no thread, so nothing it does could be noticed. */
static bool is_parked(const struct waiter_item *item)
{
	return !item->breakpoint.tid;
}

static struct waiter_item *find_item(struct waiter *waiter, const struct safety_finding *finding)
{
	struct waiter_item *item;

	vec_for_each (&waiter->items, item)
		if (item->breakpoint.tid == finding->tid &&
		    item->breakpoint.pc == finding->return_pc &&
		    item->breakpoint.sp == finding->return_sp)
			return item;
	return NULL;
}

static void add_item(struct waiter *waiter, const struct safety_finding *finding)
{
	struct waiter_item *item = vec_push(&waiter->items);
	struct uspl_err err = { 0 };

	if (!item)
		return;
	item->seen = item->fresh = true;
	item->found_since = clock_now_ns();
	item->breakpoint = (struct hw_breakpoint){ .tid = finding->tid, .fd = -1 };
	if (!finding->return_pc)
		return;
	if (hw_breakpoint_open(&item->breakpoint, finding->tid, finding->return_pc,
			       finding->return_sp, &err))
		log_info("stop", "%s: looking again now and then", err.msg);
	else
		log_debug("stop", "watching the return of '%s' in thread %d", finding->function,
			  finding->tid);
}

/* Makes the items those of the findings; a watch that is open already stays. */
static void take_findings(struct waiter *waiter, const struct waiter_stop *stop)
{
	struct waiter_item *item;
	size_t kept = 0;

	vec_for_each (&waiter->items, item)
		item->seen = false;
	for (size_t i = 0; i < stop->n; i++) {
		item = find_item(waiter, &stop->findings[i]);
		if (item)
			item->seen = true;
	}
	vec_for_each (&waiter->items, item) {
		if (item->seen)
			waiter->items.items[kept++] = *item;
		else
			hw_breakpoint_close(&item->breakpoint);
	}
	waiter->items.n = kept;
	vec_for_each (&waiter->items, item)
		item->fresh = item->left = item->returned = false;
	for (size_t i = 0; i < stop->n && waiter->items.n < WAITER_MAX; i++)
		if (!find_item(waiter, &stop->findings[i]))
			add_item(waiter, &stop->findings[i]);
}

/* Sleeps until a watch has news, at most until the time given. */
static void wait_for_news(const struct waiter *waiter, int64_t until)
{
	int64_t left = until - clock_now_ns();
	struct timespec timeout = { .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };
	struct pollfd fds[WAITER_MAX];
	const struct waiter_item *item;
	size_t n = 0;

	if (left <= 0)
		return;
	vec_for_each (&waiter->items, item)
		if (is_watched(item) && !item->left)
			fds[n++] = (struct pollfd){ .fd = item->breakpoint.fd, .events = POLLIN };
	/* A failure, by ^C, ends the wait, as it should. */
	(void)!ppoll(fds, n, &timeout, NULL);
}

static bool all_left(const struct waiter *waiter)
{
	const struct waiter_item *item;

	vec_for_each (&waiter->items, item)
		if (!item->left)
			return false;
	return true;
}

/* Where the thread was called from last; a caller has pushed the return address at its entry. */
static void remember_return(struct waiter *waiter, pid_t tid, taddr return_sp, bool guessed)
{
	struct waiter_return *known, *of_thread = NULL;

	vec_for_each (&waiter->returns, known)
		if (known->tid == tid)
			of_thread = known;
	if (!of_thread && waiter->returns.n < WAITER_RETURNS_MAX)
		of_thread = vec_push(&waiter->returns);
	if (of_thread)
		*of_thread = (struct waiter_return){ tid, return_sp - sizeof(taddr), guessed };
}

static void note_passes(struct waiter *waiter, int64_t since)
{
	struct waiter_item *item;

	vec_for_each (&waiter->items, item) {
		if (!hw_breakpoint_passed(&item->breakpoint, since))
			continue;
		item->returned = item->left = true;
		remember_return(waiter, item->breakpoint.tid, item->breakpoint.sp, false);
		if (waiter->held && !waiter->held_since)
			waiter->held_since = clock_now_ns();
	}
}

/* Waits for news only, until the time given. */
static void watch_until(struct waiter *waiter, int64_t since, int64_t until)
{
	note_passes(waiter, since);
	while (!all_left(waiter) && clock_now_ns() < until && !cancel_requested()) {
		wait_for_news(waiter, until);
		note_passes(waiter, since);
	}
}

/* What is known of each thread once it had time to get back to where it was. */
static void look_first(struct waiter *waiter)
{
	struct waiter_item *item;

	vec_for_each (&waiter->items, item) {
		struct blocked_place place;
		/* False if the thread runs, or if that can't be known. */
		bool asleep = blocked_place_read(waiter->proc, item->breakpoint.tid, &place);

		item->last_count =
			asleep ? run_count(waiter->proc, item->breakpoint.tid) : NOT_ASLEEP;
		if (is_parked(item))
			continue;
		if (is_watched(item))
			item->left |= item->fresh && (!asleep || place.sp >= item->breakpoint.sp);
		else
			item->left |= !asleep;
	}
}

static bool has_unwatched(const struct waiter *waiter, bool left_too)
{
	const struct waiter_item *item;

	vec_for_each (&waiter->items, item)
		if ((left_too || !item->left) && !is_watched(item) && !is_parked(item))
			return true;
	return false;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void wait_for_all(struct waiter *waiter, int64_t since, int64_t deadline)
{
	int64_t now = clock_now_ns(), pause = SHORTEST_LOOK_NS, recheck;
	struct waiter_item *item;

	if (!waiter->patience)
		waiter->patience = SHORTEST_PATIENCE_NS;
	recheck = now + waiter->patience;
	while (!all_left(waiter) && now < deadline && !cancel_requested()) {
		int64_t look = has_unwatched(waiter, false) ? now + pause : recheck;

		wait_for_news(waiter, earlier(earlier(look, recheck), deadline));
		note_passes(waiter, since);
		now = clock_now_ns();
		/* Threads that have run may have left in a way that isn't seen. */
		vec_for_each (&waiter->items, item)
			if (!item->left &&
			    (now >= recheck || !(is_watched(item) || is_parked(item))))
				item->left = item->last_count == NOT_ASLEEP ||
					     run_count(waiter->proc, item->breakpoint.tid) !=
						     item->last_count;
		if (now >= recheck) {
			waiter->patience = earlier(2 * waiter->patience, LONGEST_PATIENCE_NS);
			recheck = now + waiter->patience;
		}
		pause = earlier(2 * pause, LONGEST_LOOK_NS);
	}
}

/* False if that time has come. */
static bool pause_until(int64_t until)
{
	int64_t left = until - clock_now_ns();
	struct timespec timeout = { .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };

	if (left <= 0)
		return false;
	nanosleep(&timeout, NULL);
	return true;
}

/*
 * The threads have left too early after the last stop. A function that is called all the time will
 * soon return again.
 */
static void rest(struct waiter *waiter, int64_t until, int64_t deadline)
{
	struct waiter_item *item;

	if (!pause_until(earlier(until, deadline)))
		return;
	vec_for_each (&waiter->items, item)
		item->left = !is_watched(item);
	watch_until(waiter, clock_now_ns(), earlier(clock_now_ns() + NEXT_RETURN_NS, deadline));
}

bool waiter_wait(struct waiter *waiter, const struct waiter_stop *stop, int64_t deadline)
{
	const struct waiter_item *item;
	int64_t began = clock_now_ns();
	bool returned;

	take_findings(waiter, stop);
	watch_until(waiter, stop->checked, earlier(began + SETTLE_NS, deadline));
	look_first(waiter);
	wait_for_all(waiter, stop->checked, deadline);
	returned = waiter->items.n && waiter->items.n < WAITER_MAX;
	vec_for_each (&waiter->items, item)
		returned = returned && item->returned;
	/* Those that are held go on by themselves soon. */
	if (waiter->held && has_unwatched(waiter, true))
		pause_until(
			earlier(began + later(HELD_LOOK_NS, RUN_SHARE * stop->length), deadline));
	if (!waiter->held)
		rest(waiter, began + RUN_SHARE * stop->length, deadline);
	return returned;
}

bool waiter_are_back(struct waiter *waiter, const struct waiter_stop *stop, bool *ret_guessed)
{
	int64_t now = clock_now_ns();

	*ret_guessed = false;
	for (size_t i = 0; i < stop->n; i++) {
		const struct safety_finding *finding = &stop->findings[i];
		const struct waiter_item *item = find_item(waiter, finding);
		const struct waiter_return *known;
		bool back = false;

		if (item && !is_watched(item) && finding->return_pc &&
		    now - item->found_since >= GUESS_NS)
			remember_return(waiter, finding->tid, finding->return_sp, true);
		vec_for_each (&waiter->returns, known)
			if (known->tid == finding->tid) {
				back = true;
				*ret_guessed |= known->guessed;
			}
		if (!back)
			return false;
	}
	return stop->n > 0;
}

void waiter_release(struct waiter *waiter)
{
	struct waiter_item *item;

	vec_for_each (&waiter->items, item)
		hw_breakpoint_close(&item->breakpoint);
	vec_release(&waiter->items);
	vec_release(&waiter->returns);
}
