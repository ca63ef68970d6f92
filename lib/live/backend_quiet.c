// SPDX-License-Identifier: GPL-3.0-or-later
// backend_quiet.c - the transition's back end that wakes nobody: only threads that run are stopped
/*
 * One attempt, with what must be true after each step:
 *
 *     look     each sleeper was outside the code when it was looked at
 *     lead     (once) entries lead to gates: from here on old frames only drain. Threads that run
 *              get through an interrupt before the switch (the stop), so that none has an old entry
 *              in its pipeline
 *     stop     those that run stand still, outside the code
 *     close    the word holds: who comes to an entry waits there
 *     recount  no sleeper has run since it was looked at; one that has is looked at again
 *     commit   compare-and-swap by one of the stopped threads, when it is let go, before the others:
 *              by then the gates are what keeps the code empty
 *
 * Closing comes before the recount: a thread that wakes is counted before it can read the word, and
 * we write the word before we read the counts, so that one of the two sees the other.
 */

#include "base/log.h"
#include "live/quiet.h"

#define SETTLE_TRIES 3

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

/* The entries of one module. */
static int plan_part(const struct quiet *quiet, struct quiet_part *part, struct uspl_err *err)
{
	int rc = refuse_loops(part->region, err);

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
	free(quiet);
	run->quiet = NULL;
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
	/* Those that were stopped for it may all have ended meanwhile. */
	if (!rc && empty && stop_host(&quiet->run->stop))
		return quiet_begin_swap(quiet, quiet_word_to(quiet), err);
	/* One that doesn't stop at once: another time. */
	if (rc == -USPL_E_UNSTOPPABLE)
		rc = 0;
	/* If this fails the first who waits does it, when the lease is over. */
	if (quiet_begin_swap(quiet, quiet_word_from(quiet), NULL) != 0)
		log_info("quiet", "the gates open when their lease is over");
	return rc;
}

/* The part in which threads stand still. */
static int stop_and_switch(struct quiet *quiet, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + run_limit_ns(quiet->run);
	struct asleep_thread *thread;
	int rc;

	quiet->commits = false;
	stop_begin(&quiet->run->stop, quiet->t->proc);
	rc = quiet_stop_running(quiet, deadline, err);
	if (!rc && !quiet->run->n_findings && clock_now_ns() <= deadline)
		rc = close_and_commit(quiet, deadline, err);
	vec_for_each (&quiet->asleep.threads, thread)
		thread->cleared = false;
	stop_leave(&quiet->run->stop);
	/* In the time that it has; another attempt may be faster. */
	if (rc == -USPL_E_UNSTOPPABLE && run_may_try_again(quiet->run))
		rc = 0;
	return quiet_end_swap(quiet, rc, err);
}

static int refuse_parked(const struct run *run, struct uspl_err *err)
{
	if (!parked_found(&run->parked))
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "functions seem to wait on stacks that no thread is on");
}

static int quiet_attempt(struct run *run, struct uspl_err *err)
{
	struct quiet *quiet = run->quiet;
	int rc;

	run->n_findings = 0;
	run->stop = (struct stop){ 0 };
	if (run->switched)
		return 0;
	rc = refuse_parked(run, err);
	if (!rc)
		rc = quiet_examine(quiet, err);
	if (rc || run->n_findings)
		return rc;
	rc = quiet_lead(quiet, err);
	if (!rc)
		rc = quiet_examine(quiet, err);
	if (rc || run->n_findings)
		return rc;
	quiet_measure_lease(quiet);
	rc = inject_agent_new(quiet->t->proc, &quiet->agent, err);
	if (rc)
		return rc;
	quiet_rehearse(quiet);
	rc = quiet_calm_down(quiet, err);
	if (!rc && !run->n_findings)
		rc = stop_and_switch(quiet, err);
	inject_agent_free(quiet->agent);
	quiet->agent = NULL;
	return rc;
}

/* Those that run are stopped even if a sleeper is in the way: all who are should be named. */
static int look_at_all(struct quiet *quiet, bool *ret_late, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + run_limit_ns(quiet->run);
	bool limited = quiet->t->max_pause_s > 0;
	int rc;

	stop_begin(&quiet->run->stop, quiet->t->proc);
	rc = quiet_stop_running(quiet, deadline, err);
	*ret_late = limited && (rc == -USPL_E_UNSTOPPABLE || clock_now_ns() > deadline);
	stop_leave(&quiet->run->stop);
	return *ret_late ? 0 : rc;
}

int quiet_look(struct run *run, bool *ret_late, size_t *ret_threads, struct uspl_err *err)
{
	int rc = open_plan(run, err);

	run->n_findings = 0;
	if (!rc)
		rc = refuse_parked(run, err);
	if (!rc) {
		run->quiet->looks = true;
		rc = quiet_examine(run->quiet, err);
	}
	if (!rc)
		quiet_rehearse(run->quiet);
	if (!rc)
		rc = look_at_all(run->quiet, ret_late, err);
	if (!rc)
		*ret_threads = run->quiet->asleep.threads.n;
	quiet_close(run);
	return rc;
}

static int quiet_finish(struct run *run, struct uspl_err *err)
{
	struct quiet *quiet = run->quiet;
	struct uspl_err why = { 0 };
	int rc = 0;

	/* As after a tool that has died: the gates stay, the word says what is the case. */
	if (quiet->undecided)
		return 0;
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
	.finish = quiet_finish,
	.close = quiet_close,
};
