// SPDX-License-Identifier: GPL-3.0-or-later
// backend_quiet.c - the transition's back end that wakes nobody: threads are looked at where they
// are
/*
 * One attempt, with what must be true after each step:
 *
 *     look     each sleeper was outside the code when it was looked at
 *     lead     (once) entries lead to gates: from here on old frames only drain. Threads that run
 *              get through an interrupt before the switch (the stop), so that none has an old entry
 *              in its pipeline
 *     close    the word holds: who comes to an entry waits there
 *     recount  each thread has been seen outside the code since: no sleeper has run since it was
 *              looked at (one that has is looked at again), and those that run are seen in an
 *              interrupt of the clock (quiet_posts.c)
 *     commit   the verdict is written beside the word: by now the gates are what keeps the code
 *              empty
 *
 * Where those that run can't be seen so, they are stopped, looked at, and stand still until the
 * decision is made:
 *
 *     stop, close, recount, commit
 *
 * Closing comes before the recount: a thread that wakes is counted before it can read the word, and
 * we write the word before we read the counts, so that one of the two sees the other.
 */

#include "arch/arch.h"
#include "base/log.h"
#include "switch/quiet.h"
#include "thread/tracer_thread.h"

#define SETTLE_TRIES 3
/*
 * How long gates hold, at most, while those that run are looked at. It is done in a quarter of
 * that, or else somebody doesn't run who was to be seen: he has to be stopped.
 */
#define WATCH_TRIES 3
/*
 * With many threads it takes some 100 us to find out that no sleeper has run, in which one may, as
 * often as not. Another try costs those that run as much as a look at nothing: they stand in a gate
 * that long only if they come to one. To stop them would take several times that.
 */
#define WATCH_MANY 64
#define WATCH_MANY_TRIES 16
/* How often to wait for a sight of those that run, where others have their processors for now. */
#define POST_TRIES 2
#define WATCH_NS 100000ll
#define WATCH_PER_THREAD_NS 100ll

/*
 * Where a loop begins at an entry, a thread that comes to the gate may be in the middle of the
 * function, with its flags and its red zone in use.
 */
static int refuse_loops(const struct region *region, struct uspl_err *err)
{
	const struct region_site *site;

	vec_for_each (&region->sites, site)
		if (!site->old_size)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "a loop of '%s' begins at its entry", site->name);
	return 0;
}

/*
 * A thread of the target makes the code writable for a moment, and exchanges the entries: were the
 * library unloaded in between, it would do that to what lies there then.
 */
static int refuse_passing(const struct quiet *quiet, const struct region *region,
			  struct uspl_err *err)
{
	const struct module *module = module_at(quiet->t->modules, region->module);

	return module && module->lasting
		       ? 0
		       : uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' may be unloaded at any moment",
				   region->module_name);
}

/* The entries of one module. */
static int plan_part(const struct quiet *quiet, struct quiet_part *part, struct uspl_err *err)
{
	int rc = refuse_passing(quiet, part->region, err);

	if (!rc)
		rc = refuse_loops(part->region, err);
	return rc ? rc
		  : gates_plan(&part->gates, quiet->t->proc, quiet->t->modules, part->region, err);
}

/* All that can be found out without changing anything. */
static int plan(struct quiet *quiet, struct uspl_err *err)
{
	const struct transition *t = quiet->t;
	struct quiet_part *part;
	int rc = 0;

	vec_for_each (&quiet->parts, part)
		rc = rc ? rc : plan_part(quiet, part, err);
	if (!rc)
		quiet_choose_decider(quiet);
	if (!rc && !t->planned)
		rc = quiet_check_words(quiet, err);
	if (!rc)
		rc = asleep_open(&quiet->asleep, t->proc, err);
	quiet->open = !rc;
	return rc;
}

static int open_plan(struct run *run, struct uspl_err *err)
{
	struct quiet *quiet = calloc(1, sizeof(*quiet));

	run->quiet = quiet;
	if (!quiet)
		return uspl_fail_nomem(err);
	quiet->run = run;
	quiet->t = run->t;
	for (size_t i = 0; i < run->t->n_regions; i++) {
		struct quiet_part *part = vec_push(&quiet->parts);

		if (!part)
			return uspl_fail_nomem(err);
		part->region = run->t->regions[i];
		part->before = part->region->state;
	}
	return plan(quiet, err);
}

static int quiet_open(struct run *run, struct uspl_err *err)
{
	struct quiet_part *part;
	int rc = open_plan(run, err);

	if (rc || run->switched)
		return rc;
	if (!arch_native()->fetches_whole())
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"this processor may fetch a part of what is stored: it is emulated");
	vec_for_each (&run->quiet->parts, part)
		rc = rc ? rc : gates_load(&part->gates, err);
	return rc;
}

static void quiet_close(struct run *run)
{
	struct quiet *quiet = run->quiet;
	struct quiet_part *part;

	if (!quiet)
		return;
	if (quiet->open)
		asleep_release(&quiet->asleep);
	vec_for_each (&quiet->parts, part)
		gates_release(&part->gates);
	vec_release(&quiet->parts);
	vec_release(&quiet->stacks);
	free(quiet);
	run->quiet = NULL;
}

static int fail_parked(struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "functions seem to wait on stacks that no thread is on");
}

/* On the stack of a thread that runs there is found what that thread itself is in, or was. */
static int refuse_parked(struct quiet *quiet, struct uspl_err *err)
{
	vec_release(&quiet->stacks);
	return parked_on_threads(&quiet->run->parked, &quiet->stacks) ? 0 : fail_parked(err);
}

/* With the gates closed and the code empty, but for what no thread's unwind has seen. */
static int commit(struct quiet *quiet, struct uspl_err *err)
{
	if (quiet_stacks_are_own(quiet))
		return quiet_commit(quiet, err);
	quiet_open_gates(quiet);
	return fail_parked(err);
}

/* limit: when the threads will have stood still for too long already. */
static int close_and_commit(struct quiet *quiet, int64_t limit, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + quiet_lease_ns(quiet) / 2;
	bool empty = false;
	int rc;

	if (!quiet_is_still_led(quiet))
		return 0;
	rc = quiet_close_gates(quiet, err);
	if (!rc)
		rc = quiet_recount(quiet, deadline < limit ? deadline : limit, &empty, err);
	empty = empty && sharers_none_since(quiet->t->proc, &quiet->run->sharers);
	/* One that doesn't stop at once: another time. */
	if (rc == -USPL_E_UNSTOPPABLE)
		rc = 0;
	if (!rc && empty)
		return commit(quiet, err);
	quiet_open_gates(quiet);
	return rc;
}

static void forget_cleared(struct quiet *quiet)
{
	struct asleep_thread *thread;

	vec_for_each (&quiet->asleep.threads, thread)
		thread->cleared = false;
}

static int64_t watch_ns(const struct quiet *quiet)
{
	int64_t own = WATCH_NS + WATCH_PER_THREAD_NS * (int64_t)quiet->asleep.threads.n;
	int64_t limit = backend_limit_ns(quiet->run);

	return own < limit ? own : limit;
}

/* Nobody is stopped: who comes to a gate waits there for as long as it takes. */
static int watch_and_switch(struct quiet *quiet, struct uspl_err *err)
{
	bool empty = false;
	int rc;

	stop_begin(&quiet->run->stop, quiet->t->proc);
	asleep_add_up(&quiet->asleep);
	if (!quiet_alert_posts(quiet)) {
		stop_leave(&quiet->run->stop);
		return 0;
	}
	rc = quiet_close_gates(quiet, err);
	if (!rc)
		empty = quiet_watch(quiet, clock_now_ns() + watch_ns(quiet)) &&
			sharers_none_since(quiet->t->proc, &quiet->run->sharers);
	if (empty)
		rc = commit(quiet, err);
	else
		quiet_open_gates(quiet);
	stop_leave(&quiet->run->stop);
	forget_cleared(quiet);
	return rc;
}

/* The part in which threads stand still. */
static int stop_and_switch(void *ctx, struct uspl_err *err)
{
	struct quiet *quiet = ctx;
	int64_t deadline = clock_now_ns() + backend_limit_ns(quiet->run);
	int rc;

	stop_begin(&quiet->run->stop, quiet->t->proc);
	rc = quiet_stop_running(quiet, deadline, err);
	if (!rc && !quiet->run->n_findings && clock_now_ns() <= deadline)
		rc = close_and_commit(quiet, deadline, err);
	stop_leave(&quiet->run->stop);
	forget_cleared(quiet);
	/* In the time that it has; another attempt may be faster. */
	if (rc == -USPL_E_UNSTOPPABLE && backend_may_try_again(quiet->run))
		rc = 0;
	return rc;
}

static bool is_open(const struct quiet *quiet, int rc)
{
	return !rc && !quiet->run->sharers.found && !quiet->run->switched &&
	       !quiet->run->n_findings;
}

/*
 * First without a stop; the sleepers are to be looked at anew if that comes to nothing. A thread
 * that is seen to run, and has no post, is one that has woken up just now: it may sleep at the next
 * look.
 */
static int switch_somehow(struct quiet *quiet, struct uspl_err *err)
{
	int tries = quiet->asleep.threads.n > WATCH_MANY ? WATCH_MANY_TRIES : WATCH_TRIES;
	int rc = quiet_calm_down(quiet, err);

	for (int i = 0; i < tries && is_open(quiet, rc); i++) {
		if (quiet_can_watch(quiet))
			rc = watch_and_switch(quiet, err);
		else if (!quiet->posts.n && (i >= POST_TRIES || !quiet_post(quiet)))
			break;
		if (is_open(quiet, rc))
			rc = quiet_calm_down(quiet, err);
	}
	return is_open(quiet, rc) ? tracer_run_beside(quiet->t->proc, stop_and_switch, quiet, err)
				  : rc;
}

static int quiet_attempt(struct run *run, struct uspl_err *err)
{
	struct quiet *quiet = run->quiet;
	int rc;

	run->n_findings = 0;
	run->stop = (struct stop){ 0 };
	if (run->switched)
		return 0;
	rc = refuse_parked(quiet, err);
	if (!rc)
		rc = quiet_examine(quiet, err);
	if (rc || run->n_findings)
		return rc;
	rc = quiet_lead(quiet, err);
	if (!rc)
		rc = quiet_examine(quiet, err);
	if (rc || run->n_findings || !sharers_none_since(quiet->t->proc, &run->sharers))
		return rc;
	quiet_measure_lease(quiet);
	(void)quiet_post(quiet);
	rc = switch_somehow(quiet, err);
	quiet_drop_posts(quiet);
	return rc;
}

struct look {
	struct quiet *quiet;
	bool late;
};

/* Those that run are stopped even if a sleeper is in the way: all who are should be named. */
static int look_at_all(void *ctx, struct uspl_err *err)
{
	struct look *look = ctx;
	struct quiet *quiet = look->quiet;
	int64_t deadline = clock_now_ns() + backend_limit_ns(quiet->run);
	bool limited = quiet->t->max_pause_s > 0;
	int rc;

	stop_begin(&quiet->run->stop, quiet->t->proc);
	rc = quiet_stop_running(quiet, deadline, err);
	look->late = limited && (rc == -USPL_E_UNSTOPPABLE || clock_now_ns() > deadline);
	stop_leave(&quiet->run->stop);
	return look->late ? 0 : rc;
}

/* As in a switch, with the gates open. True if nobody is in the way. */
static bool look_unstopped(struct quiet *quiet)
{
	struct stop *stop = &quiet->run->stop;
	bool empty = false;

	if (!quiet_can_watch(quiet) || !quiet_alert_posts(quiet))
		return false;
	stop_begin(stop, quiet->t->proc);
	stop->entered_ns = clock_now_ns();
	empty = quiet_watch(quiet, stop->entered_ns + watch_ns(quiet));
	stop_leave(stop);
	forget_cleared(quiet);
	if (!empty)
		*stop = (struct stop){ 0 };
	return empty;
}

int quiet_look(struct run *run, bool *ret_late, size_t *ret_threads, struct uspl_err *err)
{
	struct look look = { 0 };
	int rc = open_plan(run, err);

	run->n_findings = 0;
	if (!rc)
		rc = refuse_parked(run->quiet, err);
	if (!rc) {
		run->quiet->looks = true;
		rc = quiet_examine(run->quiet, err);
	}
	if (!rc) {
		quiet_ask_stuck(run->quiet);
		(void)quiet_post(run->quiet);
		look.quiet = run->quiet;
		if (!look_unstopped(run->quiet))
			rc = tracer_run_beside(run->t->proc, look_at_all, &look, err);
		*ret_late = look.late;
		quiet_drop_posts(run->quiet);
	}
	if (!rc && !run->n_findings && !*ret_late && !quiet_stacks_are_own(run->quiet))
		rc = fail_parked(err);
	if (!rc)
		*ret_threads = run->quiet->asleep.threads.n;
	quiet_close(run);
	return rc;
}

/* Entries have to lead to gates for it, though a function is busy. */
static int quiet_hold(struct run *run, const taddr *sp, size_t n, bool *ret_held,
		      struct uspl_err *err)
{
	int rc = quiet_lead(run->quiet, err);

	return rc ? rc : quiet_drain(run->quiet, sp, n, ret_held, err);
}

static int quiet_finish(struct run *run, struct uspl_err *err)
{
	struct quiet *quiet = run->quiet;
	struct uspl_err why = { 0 };
	int rc = 0;

	/* As after a tool that has died: the gates stay, the word says what is the case. */
	if (quiet->undecided)
		return 0;
	if (quiet->draining && !run->switched)
		quiet_open_gates(quiet);
	if (!run->switched)
		return quiet->led ? quiet_take_back(quiet, err) : 0;
	for (int i = 0; i < SETTLE_TRIES; i++) {
		rc = quiet_settle(quiet, &why);
		if (!rc)
			return 0;
	}
	/* It is done all the same, and the next command finds in the record that this is left. */
	log_info("quiet", "the switch is made, but not all is put in order: %s", why.msg);
	return 0;
}

const struct transition_backend backend_quiet = {
	.name = "quiet",
	.open = quiet_open,
	.attempt = quiet_attempt,
	.hold = quiet_hold,
	.finish = quiet_finish,
	.close = quiet_close,
};
