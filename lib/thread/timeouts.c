// SPDX-License-Identifier: GPL-3.0-or-later
// timeouts.c - the time that is left of the time-outs of calls that a stop interrupts
/*
 * A thread that is found asleep in a call has been in it since it last ran, or longer (it may have
 * woken inside the call, and gone to sleep again). So what is left may be reckoned too long, but
 * never too short. All of it is true only if the thread hasn't run between the note and the stop:
 * it may be in the same call anew. Its run count tells: one more for the stop itself, and one for
 * each time that it had to make way for another on the way there. (Every time that it slept again
 * would be one more than that.)
 *
 * The call may have ended just before the thread was asked to stop. Then the thread may be found in
 * the next call, which was interrupted before it slept, and its count is what it would be else. So
 * the count is read once more right after the request: if it is what it was, the thread was in the
 * noted call then. But the thread may be on a processor by then, for the request. So it is enough,
 * too, if the count was the same right before, and the tool has not been put off in between: it
 * takes as long to wake up, leave a call and begin another.
 *
 * That is not quite so: a thread that is awake already needs less than the tool does from the one
 * reading to the request, two or three microseconds. Nothing that the kernel tells of a thread that
 * has stopped says then which of the two calls it is in: it has run once in either case, both have
 * the same registers, and there is no count of system calls. To go by the second reading alone
 * would start most calls anew with their whole time-out, whose thread is quick to wake up. A
 * breakpoint behind the call would tell (hw_breakpoint.h), where a machine has breakpoints that are
 * met.
 */

#include "thread/timeouts.h"

#include <string.h>
#include <time.h>

#include "thread/blocked_place.h"
#include "thread/padding.h"
#include "thread/sleep_time.h"
#include "thread/thread.h"

#define MS_NS 1000000ll
#define SECOND_NS 1000000000ll
/* Longer time-outs are left alone: some years. */
#define SECONDS_MAX 100000000ll
/* From the look right before the request to its end: if it took longer the tool was put off. */
#define REQUEST_NS 100000ll

_Static_assert(sizeof(struct timespec) <= PADDING_ROOM, "a place has room for one");

/* The call's whole time-out; false if it has none, or it can't be read. */
static bool read_timeout(const struct proc *proc, const struct timeout *timeout, int64_t *ret_ns)
{
	uint64_t value = timeout->place.args[timeout->call.arg];
	struct timespec ts;

	if (timeout->call.form == TIMEOUT_MS) {
		*ret_ns = (int32_t)value * MS_NS;
		return (int32_t)value > 0;
	}
	if (!value || proc_read_some(proc, value, &ts, sizeof(ts)) != sizeof(ts) || ts.tv_sec < 0 ||
	    ts.tv_sec > SECONDS_MAX || ts.tv_nsec < 0 || ts.tv_nsec >= SECOND_NS)
		return false;
	*ret_ns = ts.tv_sec * SECOND_NS + ts.tv_nsec;
	return *ret_ns > 0;
}

static size_t read_code(void *ctx, taddr addr, void *buf, size_t len)
{
	return proc_read_some(ctx, addr, buf, len);
}

/* Many threads sleep at the same place: it is looked at only once. */
static bool is_dead(const struct timeouts *timeouts, const struct timeout *timeout)
{
	const struct timeout *other;

	vec_for_each (&timeouts->items, other)
		if (other->place.pc == timeout->place.pc && other->call.arg == timeout->call.arg)
			return true;
	return syscall_arg_is_dead(timeout->call.arg, timeout->place.pc, read_code,
				   (void *)timeouts->proc);
}

/* Fills in what can be known of the thread's call and of its sleep. */
static bool look_at(const struct timeouts *timeouts, pid_t tid, struct timeout *timeout,
		    struct sleep_time *sleep_time)
{
	const struct proc *proc = timeouts->proc;

	*timeout = (struct timeout){ .tid = tid, .count.fd = -1 };
	if (!blocked_place_read(proc, tid, &timeout->place) ||
	    !syscall_timeout(timeout->place.nr, &timeout->call) ||
	    !read_timeout(proc, timeout, &timeout->left_ns) || !is_dead(timeouts, timeout))
		return false;
	runcount_open(&timeout->count, proc, tid);
	timeout->runs = runcount_read(&timeout->count, proc);
	*sleep_time = (struct sleep_time){ .tid = tid };
	if (timeout->runs != RUNCOUNT_NONE && sleep_time_read(proc, sleep_time) &&
	    sleep_time_preempted(proc, tid, &timeout->preempted)) {
		struct blocked_place again;

		/* All of it at one instant: the count has not changed in between. */
		if (blocked_place_read(proc, tid, &again) &&
		    !memcmp(&again, &timeout->place, sizeof(again)) &&
		    runcount_read(&timeout->count, proc) == timeout->runs)
			return true;
	}
	runcount_close(&timeout->count);
	return false;
}

static void drop(struct timeout *timeout)
{
	runcount_close(&timeout->count);
	timeout->tid = 0;
}

/* Gives those that need one a place for their new struct timespec, or drops them. */
static void find_rooms(struct timeouts *timeouts, size_t first)
{
	struct timeout *timeout, *earlier;
	struct padding padding;
	bool found = false;

	for (size_t i = first; i < timeouts->items.n; i++) {
		timeout = &timeouts->items.items[i];
		if (!timeout->tid || timeout->call.form != TIMEOUT_TIMESPEC)
			continue;
		if (!found && (found = padding_find(timeouts->proc, &padding)))
			vec_for_each (&timeouts->items, earlier)
				padding_keep(&padding, earlier->room);
		timeout->room = found ? padding_take(timeouts->proc, &padding, timeout->tid) : 0;
		if (!timeout->room)
			drop(timeout);
	}
}

void timeouts_note(struct timeouts *timeouts, const pid_t *tids, size_t n)
{
	VEC(struct sleep_time) sleep_times = { 0 };
	size_t first = timeouts->items.n;

	for (size_t i = 0; i < n; i++) {
		struct timeout timeout, *item;
		struct sleep_time sleep_time, *sleep_time_item;

		if (!look_at(timeouts, tids[i], &timeout, &sleep_time))
			continue;
		item = vec_push(&timeouts->items);
		sleep_time_item = item ? vec_push(&sleep_times) : NULL;
		if (item)
			*item = timeout;
		else
			runcount_close(&timeout.count);
		if (!sleep_time_item) {
			timeouts->items.n -= item != NULL;
			break;
		}
		*sleep_time_item = sleep_time;
	}
	sleep_times_measure(sleep_times.items, sleep_times.n);
	for (size_t i = first; i < timeouts->items.n; i++) {
		struct timeout *timeout = &timeouts->items.items[i];
		const struct sleep_time *sleep_time = &sleep_times.items[i - first];

		if (sleep_time->slept_ns < 0)
			drop(timeout);
		timeout->left_ns -= sleep_time->slept_ns;
		timeout->as_of_ns = sleep_time->as_of_ns;
	}
	vec_release(&sleep_times);
	find_rooms(timeouts, first);
}

/* Threads are stopped in the order in which they were noted. */
static struct timeout *find(struct timeouts *timeouts, pid_t tid)
{
	for (size_t i = 0; i < timeouts->items.n; i++) {
		size_t at = (timeouts->cursor + i) % timeouts->items.n;

		if (timeouts->items.items[at].tid != tid)
			continue;
		timeouts->cursor = at + 1;
		return &timeouts->items.items[at];
	}
	return NULL;
}

struct timeout *timeouts_ask(struct timeouts *timeouts, pid_t tid)
{
	struct timeout *timeout = find(timeouts, tid);
	int64_t now = timeout ? clock_now_ns() : 0;

	if (timeout && runcount_read(&timeout->count, timeouts->proc) == timeout->runs)
		timeout->asleep_ns = now;
	return timeout;
}

void timeouts_asked(const struct timeouts *timeouts, struct timeout *timeout)
{
	if (timeout)
		timeout->interrupted =
			clock_now_ns() - timeout->asleep_ns < REQUEST_NS ||
			runcount_read(&timeout->count, timeouts->proc) == timeout->runs;
}

static bool was_only_stopped(const struct proc *proc, const struct timeout *timeout)
{
	uint64_t runs = runcount_read(&timeout->count, proc), preempted;

	if (runs == timeout->runs + 1)
		return true;
	return runs > timeout->runs && sleep_time_preempted(proc, timeout->tid, &preempted) &&
	       runs - timeout->runs - 1 == preempted - timeout->preempted;
}

bool timeouts_shorten(struct timeouts *timeouts, pid_t tid, struct arch_regs *regs)
{
	struct syscall_timeout call;
	const struct timeout *timeout =
		syscall_timeout(regs_syscall(regs), &call) ? find(timeouts, tid) : NULL;
	uint64_t value;
	struct timespec ts;
	int64_t left;

	if (!timeout || !timeout->interrupted || !regs_are_interrupted_at(regs, &timeout->place) ||
	    !was_only_stopped(timeouts->proc, timeout))
		return false;
	left = timeout->left_ns - (clock_now_ns() - timeout->as_of_ns);
	if (left < 0)
		left = 0;
	/* In the call's own form, rounded up. */
	value = (uint64_t)((left + MS_NS - 1) / MS_NS);
	if (timeout->call.form == TIMEOUT_TIMESPEC) {
		ts = (struct timespec){ left / SECOND_NS, left % SECOND_NS };
		value = timeout->room;
		if (proc_write(timeouts->proc, timeout->room, &ts, sizeof(ts), NULL) != 0)
			return false;
	}
	regs_set_syscall_arg(regs, timeout->call.arg, value);
	return true;
}

void timeouts_release(struct timeouts *timeouts)
{
	struct timeout *timeout;

	vec_for_each (&timeouts->items, timeout)
		runcount_close(&timeout->count);
	vec_release(&timeouts->items);
}
