// SPDX-License-Identifier: GPL-3.0-or-later
// stopless_by_thread.c - threads that are in the functions go over one by one, each when it leaves
/*
 * Only where old and new code may run side by side in different threads. An attempt to switch all
 * threads together that has found some in the way is followed by one that lets these stay:
 *
 *     gather   the threads in the way are stopped, too, and each gets a slot: its thread pointer,
 *              and the part of its stack by which a trampoline sees that it has left its call
 *     close, recount    as ever: each thread has been seen since the selector holds, and is outside
 *              the code or has a slot
 *     commit   the slots are written into the set that doesn't count, and the commit byte says
 *              BY_THREAD, and that it counts now. With no slot to write it is the switch itself
 *
 * From then on no thread without a slot enters the code, so that those in it become fewer. Until
 * then a thread that has left its call is stopped now and then, and looked at: its slot is cleared
 * for it, or has the range of the call that it is in now. A slot is read by its own thread only, so
 * nothing need hold for that. It ends in one of two ways:
 *
 *     each thread has cleared its slot, as one does that comes to a trampoline outside its call:
 *              then none is in the code, nor comes there. A look makes sure, for which nothing
 *              need hold. The selector says the value that is to come as it leads there already
 *     some slots stay, since their threads come no more: an attempt that finds no thread in the
 *              code switches, by a hold and a commit byte
 *
 * A slot's range begins at the stack pointer with which the outermost call was made. Nothing else
 * can have that one while the call goes on, since the return address lies there. It ends where a
 * frame could hold a signal stack: a handler there would look as if the thread had left. A thread
 * that is met in a handler, with nothing in the way behind it, has no slot: by the range of a call
 * on a signal stack nothing could be told of calls elsewhere.
 */

#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "safety/drain.h"
#include "switch/stopless.h"

/*
 * How long the slots are looked for, at most, while the trampolines hold; and later, when it is not
 * urgent.
 */
#define GATHER_NS 20000000ll
#define GATHER_AGAIN_NS 5000000ll
/* How long the threads in the way may take to stop for that. */
#define GATHER_STOP_NS 25000000ll
/* Where it isn't known whether a slot is still right. */
#define AGAIN_NS 1000000000ll
/* How long one thread may take to stop for the look at its thread pointer. */
#define POINTER_STOP_NS 100000000ll

/* Says why not, the first time. */
static bool refuse(struct stopless *stopless, const char *why)
{
	if (!stopless->refused)
		log_info("stop", "threads don't go over one by one: %s", why);
	stopless->refused = true;
	return false;
}

/* What doesn't depend on the moment. What has been begun so was possible then. */
bool stopless_may_go_by_thread(struct stopless *stopless)
{
	const struct stopless_part *part;
	bool agreed = true;

	if (stopless->run->by_thread)
		return true;
	vec_for_each (&stopless->parts, part)
		agreed = agreed && part->region->agreed;
	if (stopless->refused || (!stopless->t->by_thread && !agreed))
		return false;
	vec_for_each (&stopless->parts, part)
		if (!part->region->by_thread)
			return refuse(stopless, "the update's trampolines weren't made for it");
	if (stopless->t->n_replaced)
		return refuse(stopless, "the update takes the place of others");
	return true;
}

/* Where the set of slots lies that counts beside that value. */
static taddr slots_at(const struct stopless *stopless, uint8_t value)
{
	return stopless->leader->selector + USPL_SLOTS_AT +
	       (value & USPL_SELECTOR_SECOND ? USPL_SLOTS_LEN : 0);
}

/*
 * True if a thread that the last attempt has found has that slot, and the slot is still right. Of a
 * sleeper it may not be known with which stack pointer it called; then that is found out now and
 * then.
 */
static bool is_right(const struct stopless *stopless, const struct safety_finding *finding,
		     const struct stopless_slot *slot, const struct uspl_slot *now)
{
	if (slot->tid != finding->tid || !now->thread)
		return false;
	if (finding->return_sp)
		return now->low == finding->return_sp - sizeof(taddr);
	return now->low != UINT64_MAX && clock_now_ns() < stopless->gather_again_ns;
}

/* True if all of them have one. */
static bool is_current(const struct stopless *stopless)
{
	const struct run *run = stopless->run;
	taddr at = slots_at(stopless, stopless->settled);
	struct uspl_slot now[USPL_SLOTS_MAX];

	if (!run->by_thread || !run->n_findings || run->n_findings == WAITER_MAX ||
	    proc_read_some(stopless->t->proc, at, now, sizeof(now)) != sizeof(now))
		return false;
	for (size_t i = 0; i < run->n_findings; i++) {
		const struct safety_finding *finding = &run->findings[i];
		bool has = false;

		for (size_t j = 0; j < stopless->slots.n; j++)
			has |= is_right(stopless, finding, &stopless->slots.items[j], &now[j]);
		if (!has)
			return false;
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	taddr x = *(const taddr *)a, y = *(const taddr *)b;

	return x < y ? -1 : x > y;
}

typedef VEC(taddr) pointer_vec;

/*
 * One thread after another, each for as short as possible. *ret_sound is false if one is no pointer
 * to itself.
 */
static int read_pointers(const struct stopless *stopless, pointer_vec *ret, bool *ret_sound,
			 struct uspl_err *err)
{
	const struct proc *proc = stopless->t->proc;
	const struct blocked_thread *thread;

	*ret_sound = true;
	vec_for_each (&stopless->blocked.threads, thread) {
		tid_vec tids = { .items = (pid_t[]){ thread->tid }, .n = 1 };
		taddr *item, pointer = 0;
		struct stop stop;
		uint64_t word = 0;
		bool there;
		int rc;

		if (thread->class == BLOCKED_NO_CODE)
			continue;
		stop_begin(&stop, proc);
		rc = stop_some(&stop, &tids, clock_now_ns() + POINTER_STOP_NS, err);
		there = !rc && stop.threads.n && stop.threads.items[0].state == THREAD_STOPPED;
		if (there)
			pointer = regs_tcb(&stop.threads.items[0].regs);
		stop_leave(&stop);
		if (rc)
			return rc;
		if (!there)
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = pointer;
		*ret_sound = *ret_sound && pointer &&
			     proc_read_some(proc, pointer, &word, sizeof(word)) == sizeof(word) &&
			     word == pointer;
	}
	return 0;
}

/*
 * Trampolines read the word at %fs:0 of whatever thread comes: there must be one, and no two
 * threads may have the same. A thread that is born later has one of its own, or its maker's.
 */
static int check_pointers(struct stopless *stopless, bool *ret_sound, struct uspl_err *err)
{
	auto_vec pointer_vec pointers = { 0 };
	int rc;

	*ret_sound = stopless->pointers_sound;
	if (stopless->pointers_sound)
		return 0;
	rc = read_pointers(stopless, &pointers, ret_sound, err);
	if (rc)
		return rc;
	if (pointers.n)
		qsort(pointers.items, pointers.n, sizeof(taddr), by_value);
	for (size_t i = 1; i < pointers.n; i++)
		*ret_sound &= pointers.items[i] != pointers.items[i - 1];
	stopless->pointers_sound = *ret_sound;
	return 0;
}

/* With the trampolines closed, and each thread known: all that are in the way have a slot. */
static int commit(struct stopless *stopless, struct uspl_err *err)
{
	uint8_t to = (uint8_t)stopless_value_to(stopless);
	struct uspl_slot slots[USPL_SLOTS_MAX + 1] = { 0 };
	size_t n = stopless->slots.n;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		slots[i] = stopless->slots.items[i].raw;
	if (n) {
		to |= USPL_SELECTOR_BY_THREAD;
		/* Into the set that doesn't count. */
		if (stopless->run->by_thread)
			to |= ~stopless->settled & USPL_SELECTOR_SECOND;
		rc = proc_write(stopless->t->proc, slots_at(stopless, to), slots,
				(n + 1) * sizeof(*slots), err);
	}
	if (!rc)
		return stopless_commit(stopless, to, err);
	stopless_end_hold(stopless);
	return rc;
}

/*
 * Once threads go over one by one, only the code that they are to leave must become empty, whatever
 * a dead tool had left: threads are in the other code for good.
 */
static void leave_only(struct run *run)
{
	struct safety both = run->safety;

	if (!run->by_thread || !run->leaving.ranges.n)
		return;
	run->safety = run->leaving;
	run->leaving = (struct safety){ .proc = both.proc };
	safety_release(&both);
}

/* That time, or the user's limit if it is shorter. */
static int64_t at_most(const struct run *run, int64_t ns)
{
	int64_t limit = backend_limit_ns(run);

	return ns < limit ? ns : limit;
}

static int close_and_commit(struct stopless *stopless, struct uspl_err *err)
{
	struct run *run = stopless->run;
	int64_t deadline =
		clock_now_ns() + at_most(run, run->by_thread ? GATHER_AGAIN_NS : GATHER_NS);
	bool known = false;
	int rc;

	if (!stopless_is_still_armed(stopless))
		return 0;
	rc = stopless_hold(stopless, err);
	if (!rc)
		rc = stopless_recount(stopless, deadline, &known, err);
	known = known && stopless->gathered &&
		vm_sharers_none_since(stopless->t->proc, &stopless->run->vm_sharers);
	/* Then all stand still. */
	if (known && inactive_found(&run->inactive) &&
	    !inactive_check(&run->inactive, &run->stop.threads, backend_next_finding(run))) {
		backend_add_finding(run);
		known = false;
	}
	if (!rc && known) {
		rc = commit(stopless, err);
		leave_only(run);
		return rc;
	}
	stopless_end_hold(stopless);
	return rc;
}

/* The part in which threads stand still. */
static int stop_and_gather(struct stopless *stopless, struct uspl_err *err)
{
	struct stop *stop = &stopless->run->stop;
	int64_t limit = at_most(stopless->run, GATHER_STOP_NS);
	int rc;

	stop_begin(stop, stopless->t->proc);
	rc = stopless_stop_running(stopless, clock_now_ns() + limit, err);
	/* Threads that were late may have taken longer than that before any other stood still. */
	if (!rc && stopless->gathered &&
	    (!stop->entered_ns || clock_now_ns() <= stop->entered_ns + limit))
		rc = close_and_commit(stopless, err);
	stop_leave(stop);
	/* A thread didn't stop in the time that it had; another attempt may be faster. */
	return rc == -USPL_E_UNSTOPPABLE && backend_may_try_again(stopless->run) ? 0 : rc;
}

/* The range first becomes one that nothing is in. */
static int write_slot(const struct stopless *stopless, size_t i, const struct uspl_slot *slot,
		      struct uspl_err *err)
{
	const struct proc *proc = stopless->t->proc;
	taddr at = slots_at(stopless, stopless->settled) + i * sizeof(*slot);
	const uint64_t nowhere = UINT64_MAX;
	int rc;

	if (!slot->thread)
		return proc_write(proc, at, &slot->thread, sizeof(slot->thread), err);
	rc = proc_write(proc, at + offsetof(struct uspl_slot, low), &nowhere, sizeof(nowhere), err);
	if (!rc)
		rc = proc_write(proc, at + offsetof(struct uspl_slot, high), &slot->high,
				sizeof(slot->high), err);
	if (!rc)
		rc = proc_write(proc, at + offsetof(struct uspl_slot, low), &slot->low,
				sizeof(slot->low), err);
	return rc;
}

/* Of a stopped thread that has that slot: what it should be now. False if that isn't known. */
static bool look_at_slot(const struct stopless *stopless, const struct thread *thread,
			 struct uspl_slot *slot)
{
	struct safety_finding finding;

	if (thread->state != THREAD_STOPPED || regs_tcb(&thread->regs) != slot->thread)
		return false;
	if (safety_check(&stopless->run->safety, thread, &finding)) {
		slot->thread = 0;
		return true;
	}
	return stopless_slot_of(stopless, thread, &finding, slot);
}

/* The slots that are left, one thread after another. Counts in stopless->refreshed. */
static int refresh(struct stopless *stopless, struct uspl_err *err)
{
	struct uspl_slot now[USPL_SLOTS_MAX];
	int rc = proc_read(stopless->t->proc, slots_at(stopless, stopless->settled), now,
			   stopless->slots.n * sizeof(*now), err);

	for (size_t i = 0; !rc && i < stopless->slots.n; i++) {
		struct stopless_slot *slot = &stopless->slots.items[i];
		tid_vec tids = { .items = &slot->tid, .n = 1 };
		struct uspl_slot is = now[i];
		struct stop stop;

		if (!is.thread)
			continue;
		stop_begin(&stop, stopless->t->proc);
		rc = stop_some(&stop, &tids, clock_now_ns() + GATHER_STOP_NS, err);
		if (!rc && stop.threads.n && look_at_slot(stopless, stop.threads.items, &is) &&
		    memcmp(&is, &now[i], sizeof(is))) {
			rc = write_slot(stopless, i, &is, err);
			slot->raw = is;
			stopless->refreshed++;
		}
		stop_leave(&stop);
		/* Another time. */
		if (rc == -USPL_E_UNSTOPPABLE)
			rc = 0;
	}
	return rc;
}

static int gather(struct stopless *stopless, struct uspl_err *err)
{
	struct blocked_thread *thread;
	int rc = stopless_examine(stopless, err);

	if (rc)
		return rc;
	/* Whose stack it is where a function seems to wait is told by all threads' registers. */
	if (inactive_found(&stopless->run->inactive))
		vec_for_each (&stopless->blocked.threads, thread)
			if (thread->class == BLOCKED_SLEEPS)
				thread->class = BLOCKED_RUNS;
	stopless_measure_hold(stopless);
	rc = stop_and_gather(stopless, err);
	stopless_forget_accounted(stopless);
	return rc;
}

bool stopless_is_left(struct stopless *stopless, struct uspl_err *err)
{
	struct run *run = stopless->run;
	struct drain drain = { .agents.proc = stopless->t->proc,
			       .agents.unwinder = run->safety.unwinder };
	size_t left;

	if (!run->by_thread || stopless->settled % 2 != stopless_value_to(stopless) ||
	    inactive_found(&run->inactive) ||
	    !trampolines_by_thread(stopless->t->proc, stopless->leader, &left) || left)
		return false;
	/* Lent: the ranges are the run's. */
	drain.text = run->safety;
	if (drain_look(&drain, err) != 0 || drain.in_text ||
	    !vm_sharers_none_since(stopless->t->proc, &run->vm_sharers))
		return false;
	run->stop.left_ns = (int64_t)(drain.stop_us * 1000);
	return true;
}

int stopless_go_by_thread(struct stopless *stopless, struct uspl_err *err)
{
	struct run *run = stopless->run;
	bool sound;
	int rc;

	if (!stopless_may_go_by_thread(stopless) || is_current(stopless) ||
	    clock_now_ns() >= run->deadline)
		return 0;
	if (run->by_thread && stopless->slots.n) {
		stopless->refreshed = 0;
		rc = refresh(stopless, err);
		if (rc || stopless->refreshed)
			return rc;
	}
	rc = stopless_arm(stopless, err);
	if (rc)
		return rc;
	rc = check_pointers(stopless, &sound, err);
	if (rc == -USPL_E_UNSTOPPABLE)
		return 0;
	if (rc)
		return rc;
	if (!sound) {
		refuse(stopless, "not every thread has a thread pointer of its own");
		return 0;
	}
	run->n_findings = 0;
	stopless->slots.n = 0;
	stopless->gathers = stopless->gathered = true;
	stopless->gather_again_ns = clock_now_ns() + AGAIN_NS;
	rc = gather(stopless, err);
	stopless->gathers = false;
	if (!stopless->gathered)
		log_debug("stop", "some threads were on their way, or not to be followed");
	else if (run->by_thread && rc == 0 && stopless->slots.n)
		log_info("stop", "%zu thread%s will go over on leaving the functions",
			 stopless->slots.n, stopless->slots.n == 1 ? "" : "s");
	return rc;
}
