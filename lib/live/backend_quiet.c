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
 *     commit   compare-and-swap by a stopped thread
 *
 * Closing comes before the recount: a thread that wakes is counted before it can read the word, and
 * we write the word before we read the counts, so that one of the two sees the other.
 */

#include <stddef.h>

#include "base/log.h"
#include "live/backend.h"
#include "live/gate.h"
#include "proc/asleep.h"
#include "proc/inject.h"

/* How long a gate holds at most: whoever waits then goes on as before. */
#define LEASE_NS 1000000ll
#define LEASE_PER_THREAD_NS 5000ll
#define SETTLE_TRIES 3

struct quiet {
	struct run *run;
	const struct transition *t;
	struct region *region;
	struct gates gates;
	struct asleep asleep;
	struct inject_agent *agent;
	enum uspl_region_state before; /* the region's state at first */
	bool open;                     /* asleep is */
	bool led;                      /* entries lead to gates, or did */
	bool lead_again;               /* not all of them do any more */
};

static enum uspl_word_value word_from(const struct quiet *quiet)
{
	return quiet->t->direction == TRANSITION_ON ? USPL_WORD_OLD : USPL_WORD_NEW;
}

static enum uspl_word_value word_to(const struct quiet *quiet)
{
	return quiet->t->direction == TRANSITION_ON ? USPL_WORD_NEW : USPL_WORD_OLD;
}

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
	if (word.value == word_from(quiet) && !any_entry(quiet, entry_of(word_to(quiet))))
		return 0;
	quiet->run->switched = word.value == word_to(quiet) &&
			       !any_entry(quiet, entry_of(word_from(quiet))) &&
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

/*
 * Checks the sleepers that have not been found free yet. One about which there is doubt is counted
 * among those that run: stopped, its stack can be followed with all registers.
 */
static void check_sleepers(struct quiet *quiet)
{
	struct asleep_thread *thread;

	vec_for_each (&quiet->asleep.threads, thread) {
		struct safety_finding *finding = run_next_finding(quiet->run);

		if (thread->class != ASLEEP_SLEEPS || thread->clean || thread->held)
			continue;
		thread->clean = safety_check_asleep(&quiet->run->safety, thread, finding);
		if (!thread->clean && finding->proven)
			run_add_finding(quiet->run);
		else if (!thread->clean)
			thread->class = ASLEEP_RUNS;
	}
	quiet->run->checked_ns = clock_now_ns();
}

static int look(struct quiet *quiet, struct uspl_err *err)
{
	int rc = asleep_look(&quiet->asleep, err);

	if (!rc)
		check_sleepers(quiet);
	return rc;
}

/* Those that have run since, in a hurry: as little as can be is to be found out of date later. */
static int look_again(struct quiet *quiet, struct uspl_err *err)
{
	int rc = asleep_look_again(&quiet->asleep, err);

	if (!rc)
		check_sleepers(quiet);
	return rc;
}

/* Where nobody runs, the sleeper that notices least, for the switch. */
static int choose_sleeper(const struct quiet *quiet, pid_t *ret)
{
	int best = INJECT_RANK_WORST + 1;
	const struct asleep_thread *thread;

	vec_for_each (&quiet->asleep.threads, thread) {
		int rank = thread->class == ASLEEP_SLEEPS && best
				   ? inject_rank(quiet->t->proc, thread->tid)
				   : best;

		if (rank >= best)
			continue;
		best = rank;
		*ret = thread->tid;
	}
	return best;
}

static int list_running(const struct quiet *quiet, tid_vec *ret, struct uspl_err *err)
{
	const struct asleep_thread *thread;
	pid_t *item, tid = 0;

	vec_for_each (&quiet->asleep.threads, thread) {
		if (thread->class != ASLEEP_RUNS || thread->held)
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = thread->tid;
	}
	if (ret->n || quiet->run->stop.threads.n || choose_sleeper(quiet, &tid) > INJECT_RANK_WORST)
		return 0;
	item = vec_push(ret);
	if (!item)
		return uspl_fail_nomem(err);
	*item = tid;
	return 0;
}

/* Stops those that run and don't stand still yet, and looks at their stacks. */
static int stop_running(struct quiet *quiet, int64_t deadline, struct uspl_err *err)
{
	size_t first = quiet->run->stop.threads.n;
	tid_vec tids = { 0 };
	int rc = list_running(quiet, &tids, err);

	if (!rc)
		rc = stop_some(&quiet->run->stop, &tids, deadline, err);
	vec_release(&tids);
	for (size_t i = first; !rc && i < quiet->run->stop.threads.n; i++) {
		const struct thread *thread = &quiet->run->stop.threads.items[i];
		struct asleep_thread *known = asleep_find(&quiet->asleep, thread->tid);

		if (thread->state != THREAD_STOPPED)
			continue;
		if (known)
			known->held = true;
		if (!safety_check(&quiet->run->safety, thread, run_next_finding(quiet->run)))
			run_add_finding(quiet->run);
	}
	quiet->run->checked_ns = clock_now_ns();
	return rc;
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

static int64_t lease_ns(const struct quiet *quiet)
{
	return LEASE_NS + LEASE_PER_THREAD_NS * (int64_t)quiet->asleep.threads.n;
}

/* The lease first: who finds the word holding must find a lease to wait for. */
static int close_gates(const struct quiet *quiet, struct uspl_err *err)
{
	const struct proc *proc = quiet->t->proc;
	taddr word = quiet->region->word;
	uint8_t hold = (uint8_t)(word_from(quiet) | USPL_WORD_HOLD);
	struct uspl_word lease = { .turns = gate_turns(lease_ns(quiet)) };
	int64_t all = (int64_t)lease.turns * sysconf(_SC_NPROCESSORS_ONLN);
	int rc;

	/* So many threads can wait at a time, and no longer than the lease. */
	lease.all_turns = all > 0 && all < INT32_MAX ? (int32_t)all : INT32_MAX;
	rc = proc_write(proc, word + offsetof(struct uspl_word, turns), &lease.turns,
			sizeof(lease) - offsetof(struct uspl_word, turns), err);
	if (!rc)
		rc = proc_write(proc, word + offsetof(struct uspl_word, value), &hold, sizeof(hold),
				err);
	/* Before the counts are read. The other side's barrier is the scheduler's. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return rc;
}

/* Swaps the word from its hold; *ret_done is false if it doesn't hold any more. */
static int swap(struct quiet *quiet, enum uspl_word_value to, bool *ret_done, struct uspl_err *err)
{
	uint8_t hold = (uint8_t)(word_from(quiet) | USPL_WORD_HOLD), now;
	struct inject_req req = { .kind = INJECT_SWAP,
				  .what = quiet->region->word + offsetof(struct uspl_word, value),
				  .args = { hold, to } };
	struct thread *host = stop_host(&quiet->run->stop);
	int rc = host ? inject_run_stopped(quiet->agent, host, &req, 1, err)
		      : uspl_fail(err, USPL_E_UNSTOPPABLE,
				  "no thread of pid %d can make the switch", quiet->t->proc->pid);

	if (!rc)
		*ret_done = req.result == hold;
	/* It may have been made before the failure. Nobody but the thread writes that value. */
	if (rc && to == word_to(quiet) && proc_read(quiet->t->proc, req.what, &now, 1, NULL) == 0 &&
	    now == to) {
		*ret_done = true;
		return 0;
	}
	return rc;
}

/*
 * With the gates closed: true in *ret_empty once all code is known to be empty at one instant. A
 * thread that has run since its look is looked at again.
 */
static int recount(struct quiet *quiet, int64_t deadline, bool *ret_empty, struct uspl_err *err)
{
	int rc = 0;

	*ret_empty = false;
	while (!rc && !quiet->run->n_findings && clock_now_ns() < deadline) {
		if (asleep_unchanged(&quiet->asleep)) {
			*ret_empty = true;
			return 0;
		}
		rc = look_again(quiet, err);
		if (!rc && !quiet->run->n_findings)
			rc = stop_running(quiet, deadline, err);
	}
	return rc;
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
	       (word & ~USPL_WORD_HOLD) == (int)word_from(quiet);
}

/* limit: when the threads will have stood still for too long already. */
static int close_and_commit(struct quiet *quiet, int64_t limit, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + lease_ns(quiet) / 2;
	bool empty = false, back;
	int rc;

	if (!is_still_led(quiet))
		return 0;
	rc = close_gates(quiet, err);
	if (!rc)
		rc = recount(quiet, deadline < limit ? deadline : limit, &empty, err);
	/* Those that were stopped for it may all have ended meanwhile. */
	if (!rc && empty && stop_host(&quiet->run->stop))
		return swap(quiet, word_to(quiet), &quiet->run->switched, err);
	/* One that doesn't stop at once: another time. */
	if (rc == -USPL_E_UNSTOPPABLE)
		rc = 0;
	/* If this fails the first who waits does it, when the lease is over. */
	if (swap(quiet, word_from(quiet), &back, NULL) != 0)
		log_info("quiet", "the gates open when their lease is over");
	return rc;
}

/* The part in which threads stand still. */
static int stop_and_switch(struct quiet *quiet, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + run_limit_ns(quiet->run);
	struct asleep_thread *thread;
	int rc;

	stop_begin(&quiet->run->stop, quiet->t->proc);
	rc = stop_running(quiet, deadline, err);
	if (!rc && !quiet->run->n_findings && clock_now_ns() <= deadline)
		rc = close_and_commit(quiet, deadline, err);
	/* In the time that it has; another attempt may be faster. */
	if (rc == -USPL_E_UNSTOPPABLE && quiet->t->max_pause_s > 0)
		rc = 0;
	vec_for_each (&quiet->asleep.threads, thread)
		thread->held = false;
	stop_leave(&quiet->run->stop);
	return rc;
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
		rc = look(quiet, err);
	if (rc || run->n_findings)
		return rc;
	rc = lead(quiet, err);
	if (!rc)
		rc = look(quiet, err);
	if (rc || run->n_findings)
		return rc;
	rc = inject_agent_new(quiet->t->proc, &quiet->agent, err);
	if (rc)
		return rc;
	rc = look_again(quiet, err);
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
	rc = stop_running(quiet, deadline, err);
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
	if (!rc)
		rc = look(run->quiet, err);
	if (!rc)
		rc = look_at_all(run->quiet, ret_late, err);
	if (!rc)
		*ret_threads = run->quiet->asleep.threads.n;
	quiet_close(run);
	return rc;
}

/* Where it was decided not to switch. A thread may be in a gate: the region has to stay. */
static int take_back(struct quiet *quiet, struct uspl_err *err)
{
	enum uspl_region_state state =
		quiet->before == USPL_REGION_LOADED ? USPL_REGION_UNDONE : quiet->before;
	int rc = gates_lead(quiet->t->proc, quiet->region, entry_of(word_from(quiet)), err);

	return rc ? rc : region_write_state(quiet->t->proc, quiet->region, state, err);
}

/* After the switch: straight entries, and the record. */
static int settle(struct quiet *quiet, struct uspl_err *err)
{
	bool on = quiet->t->direction == TRANSITION_ON;
	struct uspl_err why = { 0 };
	int rc = gates_lead(quiet->t->proc, quiet->region, entry_of(word_to(quiet)), &why);

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
