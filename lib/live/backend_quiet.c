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

#include <stddef.h>

#include "base/log.h"
#include "live/quiet.h"

#define SETTLE_TRIES 3

static enum gate_entry entry_of(enum uspl_word_value word)
{
	return word == USPL_WORD_OLD ? GATE_ENTRY_OLD : GATE_ENTRY_NEW;
}

/* True if some entry is so. */
static bool any_entry(const struct quiet *quiet, enum gate_entry entry)
{
	const struct region_site *site;

	vec_for_each (&quiet->region->sites, site)
		if (gates_entry(quiet->t->proc, quiet->region, site) == entry)
			return true;
	return false;
}

/*
 * The word and the entries must agree. Where a tool died they may say that the switch has been
 * made.
 */
static int check_word(struct quiet *quiet, struct uspl_err *err)
{
	struct uspl_word word;
	int rc = proc_read(quiet->t->proc, quiet->region->word, &word, sizeof(word), err);

	if (rc)
		return rc;
	if (word.value == quiet_word_from(quiet) &&
	    !any_entry(quiet, entry_of(quiet_word_to(quiet))))
		return 0;
	quiet->run->switched = word.value == quiet_word_to(quiet) &&
			       !any_entry(quiet, entry_of(quiet_word_from(quiet))) &&
			       !any_entry(quiet, GATE_ENTRY_ALIEN);
	if (quiet->run->switched)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "an interrupted switch has left entries of both kinds");
}

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

/* All that can be found out without changing anything. */
static int plan(struct quiet *quiet, struct uspl_err *err)
{
	const struct transition *t = quiet->t;
	int rc = refuse_loops(quiet->region, err);

	if (!rc && t->n_regions != 1)
		rc = uspl_fail(err, USPL_E_UNSUPPORTED, "the update changes several modules");
	if (!rc)
		rc = gates_plan(&quiet->gates, t->proc, t->modules, quiet->region, err);
	if (!rc && !t->planned)
		rc = check_word(quiet, err);
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
	quiet->region = run->t->regions[0];
	quiet->before = quiet->region->state;
	return plan(quiet, err);
}

static int quiet_open(struct run *run, struct uspl_err *err)
{
	int rc = open_plan(run, err);

	return rc || run->switched ? rc : gates_load(&run->quiet->gates, err);
}

static void quiet_close(struct run *run)
{
	struct quiet *quiet = run->quiet;

	if (!quiet)
		return;
	if (quiet->open)
		asleep_release(&quiet->asleep);
	gates_release(&quiet->gates);
	free(quiet);
	run->quiet = NULL;
}

static int lead(struct quiet *quiet, struct uspl_err *err)
{
	bool on = quiet->t->direction == TRANSITION_ON;
	int rc;

	if (quiet->led && !quiet->lead_again)
		return 0;
	quiet->lead_again = false;
	rc = region_write_state(quiet->t->proc, quiet->region,
				on ? USPL_REGION_SWITCHING_ON : USPL_REGION_SWITCHING_OFF, err);
	if (rc)
		return rc;
	quiet->led = true;
	return gates_lead(quiet->t->proc, quiet->region, GATE_ENTRY_GATE, err);
}

/*
 * After a tool that died: its agent may have made its swap or its store since the entries were led.
 * It can't any more, with nobody in it. If it has, all is to be begun anew.
 */
static bool is_still_led(struct quiet *quiet)
{
	const struct proc *proc = quiet->t->proc;
	const struct region_site *site;
	uint8_t word;

	if (quiet->before != USPL_REGION_SWITCHING_ON && quiet->before != USPL_REGION_SWITCHING_OFF)
		return true;
	vec_for_each (&quiet->region->sites, site)
		quiet->lead_again |= gates_entry(proc, quiet->region, site) != GATE_ENTRY_GATE;
	return !quiet->lead_again &&
	       proc_read(proc, quiet->region->word + offsetof(struct uspl_word, value), &word,
			 sizeof(word), NULL) == 0 &&
	       (word & ~USPL_WORD_HOLD) == (int)quiet_word_from(quiet);
}

/* limit: when the threads will have stood still for too long already. */
static int close_and_commit(struct quiet *quiet, int64_t limit, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + quiet_lease_ns(quiet) / 2;
	bool empty = false;
	int rc;

	if (!is_still_led(quiet))
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
	/* In the time that it has; another attempt may be faster. */
	if (rc == -USPL_E_UNSTOPPABLE && quiet->t->max_pause_s > 0)
		rc = 0;
	vec_for_each (&quiet->asleep.threads, thread)
		thread->cleared = false;
	stop_leave(&quiet->run->stop);
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
	rc = lead(quiet, err);
	if (!rc)
		rc = quiet_examine(quiet, err);
	if (rc || run->n_findings)
		return rc;
	quiet_measure_lease(quiet);
	rc = inject_agent_new(quiet->t->proc, &quiet->agent, err);
	if (rc)
		return rc;
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
		rc = look_at_all(run->quiet, ret_late, err);
	if (!rc)
		*ret_threads = run->quiet->asleep.threads.n;
	quiet_close(run);
	return rc;
}

/*
 * Where it was decided not to switch. As long as a thread is in a gate the region has to stay: it is
 * as if it had been undone.
 */
static int take_back(struct quiet *quiet, struct uspl_err *err)
{
	enum uspl_region_state state = quiet->before;
	int rc = gates_lead(quiet->t->proc, quiet->region, entry_of(quiet_word_from(quiet)), err);

	if (!rc && state == USPL_REGION_LOADED &&
	    (quiet->stuck ||
	     !gates_are_left(quiet->t->proc, quiet->region, quiet->run->safety.unwinder)))
		state = USPL_REGION_UNDONE;
	return rc ? rc : region_write_state(quiet->t->proc, quiet->region, state, err);
}

/* After the switch: straight entries, and the record. */
static int settle(struct quiet *quiet, struct uspl_err *err)
{
	bool on = quiet->t->direction == TRANSITION_ON;
	struct uspl_err why = { 0 };
	int rc = gates_lead(quiet->t->proc, quiet->region, entry_of(quiet_word_to(quiet)), &why);

	/* The way through the gates leads to the new code, too. Old code has to be itself again. */
	if (rc && on)
		log_info("quiet", "entries keep the way through the gates: %s", why.msg);
	else if (rc)
		*err = why;
	if (rc && !on)
		return rc;
	return region_write_state(quiet->t->proc, quiet->region,
				  on ? USPL_REGION_APPLIED : USPL_REGION_UNDONE, err);
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
		return quiet->led ? take_back(quiet, err) : 0;
	for (int i = 0; i < SETTLE_TRIES; i++) {
		rc = settle(quiet, &why);
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
