// SPDX-License-Identifier: GPL-3.0-or-later
// backend_stopless.c - the transition's back end that wakes no thread: it looks at each in place
/*
 * One attempt, with what must be true after each step:
 *
 *     look     each sleeper was outside the code when it was looked at
 *     arm      (once) entries lead to trampolines: from here on old frames only drain. Threads that
 *              run get through an interrupt before the switch (the stop), so that none has an old
 *              entry in its pipeline
 *     close    the selector holds: a thread that comes to an entry waits there
 *     recount  each thread has been seen outside the code since: no sleeper has run since it was
 *              looked at (one that has is looked at again), and those that run are seen in an
 *              interrupt of the clock (stopless_samplers.c)
 *     commit   the commit byte is written beside the selector: by now the trampolines are what
 *              keeps the code empty
 *
 * Where threads that run can't be seen so, they are stopped, looked at, and stand still until the
 * decision is made:
 *
 *     stop, close, recount, commit
 *
 * Closing comes before the recount: a thread that wakes is counted before it can read the selector,
 * and the tool writes the selector before it reads the counts, so that one of the two sees the
 * other.
 */

#include "arch/arch.h"
#include "base/log.h"
#include "switch/replaced.h"
#include "switch/stopless.h"

#define FINALIZE_TRIES 3
/*
 * How often the threads are looked at while the trampolines hold. A look that tells nothing has met
 * a thread that didn't run when it was to be seen, or ran when it wasn't. With many threads it
 * takes 100 us and more to ask for all of them. Another try costs the threads that run as much as a
 * look at nothing: they stand in a trampoline only if they come to one. To stop them takes several
 * times that.
 */
#define SAMPLE_TRIES 3
#define SAMPLE_MANY_TRIES 16
/* How often to wait for a sight of threads that run, where others have their processors for now. */
#define SAMPLER_TRIES 2
#define SAMPLE_NS 100000ll
#define SAMPLE_PER_THREAD_NS 100ll

/*
 * A thread of the target makes the code writable for a moment, and exchanges the entries: were the
 * library unloaded in between, it would do that to what lies there then.
 */
static bool is_passing(const struct stopless *stopless, const struct region *region)
{
	const struct module *module = module_at(stopless->t->modules, region->module);

	return !module || !module->lasting;
}

/* All that can be found out without changing anything. */
static int plan(struct stopless *stopless, struct uspl_err *err)
{
	const struct transition *t = stopless->t;
	const struct region_site *site;
	struct stopless_part *part;
	int rc;

	stopless->open = false;
	rc = replaced_refuse_back(t, err);
	if (rc)
		return rc;
	vec_for_each (&stopless->parts, part) {
		if (is_passing(stopless, part->region))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "'%s' may be unloaded at any moment",
					 part->region->module_name);
		/*
		 * Where a loop begins at an entry, a thread that comes to the trampoline may be in
		 * the middle of the function, with its flags and its red zone in use.
		 */
		vec_for_each (&part->region->sites, site)
			if (!site->old_size)
				return uspl_fail(err, USPL_E_UNSUPPORTED,
						 "a loop of '%s' begins at its entry", site->name);
		rc = trampolines_plan(&part->trampolines, t->proc, t->modules, part->region, err);
		if (rc)
			return rc;
	}
	stopless_choose_leader(stopless);
	if (!t->planned) {
		rc = stopless_check_selectors(stopless, err);
		if (rc)
			return rc;
	}
	rc = blocked_open(&stopless->blocked, t->proc, err);
	if (rc)
		return rc;
	stopless->open = true;
	return 0;
}

static int open_plan(struct run *run, struct uspl_err *err)
{
	struct stopless *stopless = calloc(1, sizeof(*stopless));

	run->stopless = stopless;
	if (!stopless)
		return uspl_fail_nomem(err);
	stopless->run = run;
	stopless->t = run->t;
	stopless->settled = (uint8_t)stopless_value_from(stopless);
	for (size_t i = 0; i < run->t->n_regions; i++) {
		struct stopless_part *part = vec_push(&stopless->parts);

		if (!part)
			return uspl_fail_nomem(err);
		part->region = run->t->regions[i];
		part->before = part->region->state;
	}
	return plan(stopless, err);
}

static int stopless_open(struct run *run, struct uspl_err *err)
{
	struct stopless_part *part;
	int rc = open_plan(run, err);

	if (rc || run->switched)
		return rc;
	if (!arch_native()->fetches_whole())
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"this processor may fetch a part of what is stored: it is emulated");
	if (rc)
		return rc;
	vec_for_each (&run->stopless->parts, part) {
		rc = trampolines_load(&part->trampolines, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void stopless_close(struct run *run)
{
	struct stopless *stopless = run->stopless;
	struct stopless_part *part;

	if (!stopless)
		return;
	if (stopless->open)
		blocked_release(&stopless->blocked);
	vec_for_each (&stopless->parts, part)
		trampolines_release(&part->trampolines);
	vec_release(&stopless->parts);
	vec_release(&stopless->stacks);
	vec_release(&stopless->slots);
	free(stopless);
	run->stopless = NULL;
}

static int fail_inactive(struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "functions seem to wait on stacks that no thread is on");
}

/* What is found on the stack of a thread that runs is what that thread itself is in, or was. */
static int refuse_inactive(struct stopless *stopless, struct uspl_err *err)
{
	vec_release(&stopless->stacks);
	return inactive_on_threads(&stopless->run->inactive, &stopless->stacks)
		       ? 0
		       : fail_inactive(err);
}

/* With the trampolines closed and the code empty, except where no thread's unwind has looked. */
static int commit(struct stopless *stopless, struct uspl_err *err)
{
	if (stopless_stacks_are_own(stopless))
		return stopless_commit(stopless, (uint8_t)stopless_value_to(stopless), err);
	stopless_end_hold(stopless);
	return fail_inactive(err);
}

/* limit: when the threads will have stood still for too long already. */
static int close_and_commit(struct stopless *stopless, int64_t limit, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + stopless_hold_timeout_ns(stopless) / 2;
	bool empty = false;
	int rc;

	if (!stopless_is_still_armed(stopless))
		return 0;
	rc = stopless_hold(stopless, err);
	if (!rc)
		rc = stopless_recount(stopless, deadline < limit ? deadline : limit, &empty, err);
	empty = empty && vm_sharers_none_since(stopless->t->proc, &stopless->run->vm_sharers);
	/* A thread doesn't stop at once: try another time. */
	if (rc == -USPL_E_UNSTOPPABLE)
		rc = 0;
	if (!rc && empty)
		return commit(stopless, err);
	stopless_end_hold(stopless);
	return rc;
}

/*
 * Until when what is found out may be acted upon: the trampolines hold for longer. *ret_begin:
 * until when to begin anything further. That is short at first, so that threads don't wait for
 * long: as a rule it is enough. Later it is what the question for all sleepers took a moment
 * before, which depends on the machine and on their number.
 */
static int64_t sample_deadline(const struct stopless *stopless, bool thorough, int64_t *ret_begin)
{
	int64_t now = clock_now_ns(), hold = stopless_hold_timeout_ns(stopless) / 2,
		own = SAMPLE_NS +
		      (thorough ? 2 * stopless->count_ns
				: SAMPLE_PER_THREAD_NS * (int64_t)stopless->blocked.threads.n);
	int64_t limit = backend_limit_ns(stopless->run);

	limit = hold < limit ? hold : limit;
	*ret_begin = now + (own < limit ? own : limit);
	return now + limit;
}

/* No thread is stopped: one that comes to a trampoline waits there for as long as this takes. */
static int sample_and_switch(struct stopless *stopless, bool thorough, struct uspl_err *err)
{
	int64_t deadline, begin;
	bool empty = false;
	int rc;

	stop_begin(&stopless->run->stop, stopless->t->proc);
	blocked_add_up(&stopless->blocked);
	if (!stopless_arm_samplers(stopless)) {
		stop_leave(&stopless->run->stop);
		return 0;
	}
	deadline = sample_deadline(stopless, thorough, &begin);
	rc = stopless_hold(stopless, err);
	if (!rc)
		empty = stopless_sample(stopless, thorough, begin, deadline) &&
			vm_sharers_none_since(stopless->t->proc, &stopless->run->vm_sharers);
	if (empty)
		rc = commit(stopless, err);
	else
		stopless_end_hold(stopless);
	stop_leave(&stopless->run->stop);
	stopless_forget_accounted(stopless);
	return rc;
}

/* The part in which threads stand still. */
static int stop_and_switch(struct stopless *stopless, struct uspl_err *err)
{
	int64_t deadline;
	int rc;

	stop_begin(&stopless->run->stop, stopless->t->proc);
	rc = stopless_stop_running(stopless, backend_deadline(stopless->run), err);
	deadline = backend_deadline(stopless->run);
	if (!rc && !stopless->run->n_findings && clock_now_ns() <= deadline)
		rc = close_and_commit(stopless, deadline, err);
	stop_leave(&stopless->run->stop);
	stopless_forget_accounted(stopless);
	/* A thread didn't stop in the time that it had; another attempt may be faster. */
	if (rc == -USPL_E_UNSTOPPABLE && backend_may_try_again(stopless->run))
		rc = 0;
	return rc;
}

static bool is_open(const struct stopless *stopless, int rc)
{
	return !rc && !stopless->run->vm_sharers.found && !stopless->run->switched &&
	       !stopless->run->n_findings;
}

/*
 * First without a stop; if that fails the sleepers have to be looked at anew. A thread that is seen
 * to run, and has no sampler, has woken up just now: it may sleep at the next look.
 */
static int switch_somehow(struct stopless *stopless, struct uspl_err *err)
{
	int tries = stopless->blocked.threads.n > STOPLESS_FEW ? SAMPLE_MANY_TRIES : SAMPLE_TRIES;
	int rc = stopless_settle_down(stopless, err);

	for (int i = 0; i < tries && is_open(stopless, rc); i++) {
		if (stopless_can_sample(stopless))
			rc = sample_and_switch(
				stopless, i >= SAMPLE_TRIES && blocked_has_sum(&stopless->blocked),
				err);
		else if (!stopless->samplers.n &&
			 (i >= SAMPLER_TRIES || !stopless_open_samplers(stopless)))
			break;
		if (is_open(stopless, rc))
			rc = stopless_settle_down(stopless, err);
	}
	return is_open(stopless, rc) ? stop_and_switch(stopless, err) : rc;
}

/* All threads in one instant. */
static int attempt_together(struct run *run, struct uspl_err *err)
{
	struct stopless *stopless = run->stopless;
	int rc;

	if (run->switched)
		return 0;
	rc = proc_check_current(run->t->proc, proc_task(run->t->proc), err);
	if (rc)
		return rc;
	rc = refuse_inactive(stopless, err);
	if (rc)
		return rc;
	rc = stopless_examine(stopless, err);
	if (rc || run->n_findings)
		return rc;
	rc = stopless_arm(stopless, err);
	if (rc)
		return rc;
	rc = stopless_examine(stopless, err);
	if (rc || run->n_findings || !vm_sharers_none_since(stopless->t->proc, &run->vm_sharers))
		return rc;
	stopless_measure_hold(stopless);
	(void)stopless_open_samplers(stopless);
	rc = switch_somehow(stopless, err);
	stopless_drop_samplers(stopless);
	return rc;
}

/*
 * Where threads may go over one by one that is tried, too, whatever the reason why the attempt at
 * all threads was impossible. Once they do there is no other way.
 */
static int stopless_attempt(struct run *run, struct uspl_err *err)
{
	struct stopless *stopless = run->stopless;
	struct uspl_err why = { 0 };
	int rc;
	bool unable;

	run->n_findings = 0;
	run->stop = (struct stop){ 0 };
	if (run->by_thread && stopless_is_left(stopless, &why))
		return stopless_end_by_thread(stopless, err);
	rc = attempt_together(run, &why);
	run->patient = stopless_may_go_by_thread(stopless);
	unable = rc == -USPL_E_UNSUPPORTED && run->patient;

	if (rc && !unable && err)
		*err = why;
	if ((rc && !unable) || run->switched || run->vm_sharers.found ||
	    !(run->n_findings || run->by_thread || unable))
		return rc;
	return stopless_go_by_thread(stopless, err);
}

/* As in a switch, with the trampolines open. True if no thread is in the way. */
static bool look_unstopped(struct stopless *stopless)
{
	struct stop *stop = &stopless->run->stop;
	bool thorough = blocked_has_sum(&stopless->blocked), empty = false;
	int64_t deadline, begin;

	if (!stopless_can_sample(stopless) || !stopless_arm_samplers(stopless))
		return false;
	stop_begin(stop, stopless->t->proc);
	stop->entered_ns = clock_now_ns();
	deadline = sample_deadline(stopless, thorough, &begin);
	empty = stopless_sample(stopless, thorough, begin, deadline);
	stop_leave(stop);
	stopless_forget_accounted(stopless);
	if (!empty)
		*stop = (struct stop){ 0 };
	return empty;
}

int backend_stopless_look(struct run *run, bool *ret_late, size_t *ret_threads,
			  struct uspl_err *err)
{
	bool limited = run->t->max_pause_s > 0;
	int rc = open_plan(run, err);

	run->n_findings = 0;
	if (!rc)
		rc = refuse_inactive(run->stopless, err);
	if (!rc) {
		run->stopless->looks = true;
		rc = stopless_examine(run->stopless, err);
	}
	if (!rc) {
		stopless_ask_stuck(run->stopless);
		(void)stopless_open_samplers(run->stopless);
		*ret_late = false;
		if (!look_unstopped(run->stopless)) {
			/* Even if a sleeper is in the way: all that are should be named. */
			stop_begin(&run->stop, run->t->proc);
			rc = stopless_stop_running(run->stopless, backend_deadline(run), err);
			*ret_late = limited && (rc == -USPL_E_UNSTOPPABLE ||
						clock_now_ns() > backend_deadline(run));
			stop_leave(&run->stop);
			if (*ret_late)
				rc = 0;
		}
		stopless_drop_samplers(run->stopless);
	}
	if (!rc && !run->n_findings && !*ret_late && !stopless_stacks_are_own(run->stopless))
		rc = fail_inactive(err);
	if (!rc)
		*ret_threads = run->stopless->blocked.threads.n;
	stopless_close(run);
	return rc;
}

/*
 * Entries have to lead to trampolines for that, even while a function is busy. Where threads go
 * over one by one no caller need be held.
 */
static int stopless_drain_callers(struct run *run, const taddr *sp, size_t n, bool guessed,
				  bool *ret_held, struct uspl_err *err)
{
	int rc;

	*ret_held = false;
	if (stopless_may_go_by_thread(run->stopless))
		return 0;
	rc = stopless_arm(run->stopless, err);
	if (rc)
		return rc;
	return stopless_drain(run->stopless, sp, n, guessed, ret_held, err);
}

static int stopless_finish(struct run *run, struct uspl_err *err)
{
	struct stopless *stopless = run->stopless;
	const struct stopless_part *part;
	struct uspl_err why = { 0 };
	int rc = 0;

	/*
	 * As after a tool that has died: the trampolines stay, the selector says what is the case.
	 */
	if (stopless->undecided)
		return 0;
	if (stopless->draining && !run->switched)
		stopless_end_hold(stopless);
	/* It goes on by itself, and the next command finds it so. */
	if (!run->switched && run->by_thread)
		return 0;
	if (!run->switched)
		return stopless->armed ? stopless_take_back(stopless, err) : 0;
	/* The stop-all way has done all of it, in a stop; since then a library may have gone. */
	vec_for_each (&stopless->parts, part)
		if (is_passing(stopless, part->region))
			return 0;
	for (int i = 0; i < FINALIZE_TRIES; i++) {
		rc = stopless_finalize(stopless, &why);
		if (!rc)
			return 0;
	}
	/* The switch is done. The next command finds in the record that this is left. */
	log_info("quiet", "the switch is made, but not all is put in order: %s", why.msg);
	return 0;
}

const struct transition_backend backend_stopless = {
	.name = "quiet",
	.open = stopless_open,
	.attempt = stopless_attempt,
	.hold = stopless_drain_callers,
	.finish = stopless_finish,
	.close = stopless_close,
};
