// SPDX-License-Identifier: GPL-3.0-or-later
// transition.c - when everything may switch, and the switch

#include "switch/transition.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/log.h"
#include "proc/memcg.h"
#include "safety/blockers.h"
#include "safety/inactive.h"
#include "safety/owned_code.h"
#include "safety/stack.h"
#include "switch/backend.h"
#include "switch/hooks.h"
#include "switch/initial.h"
#include "switch/replaced.h"
#include "switch/trampolines.h"
#include "thread/busy.h"
#include "thread/vm_sharers.h"

/* How often the stopless way may fail without a thread being in the way. */
#define HURRIED_MAX 10

/* The code that the sites' entries lead to now must be empty. The region says where old code is. */
static int add_old_code(struct safety *safety, const struct region *region, struct uspl_err *err)
{
	const struct region_range *range;
	const struct region_site *site;
	int rc = 0;

	vec_for_each (&region->sites, site) {
		if (site->old_size)
			rc = safety_add(safety, site->name, region_site_entry(site), site->old_size,
					true, err);
		/* Of a traced function the first instructions are in its body. */
		if (!rc && site->recorded.addr)
			rc = safety_add(safety, site->name, site->addr, site->recorded.body_len,
					site->old_size, err);
		if (rc)
			return rc;
	}
	vec_for_each (&region->ranges, range) {
		rc = safety_add(safety, range->name, range->addr, range->size, false, err);
		if (rc)
			return rc;
	}
	return rc;
}

/* The new code as a whole, cut at the functions' beginnings so that a finding has a name. */
static int add_new_code(struct safety *safety, const struct region *region, struct uspl_err *err)
{
	taddr at = region->text, end = region->text + region->text_len;
	const char *name = region->sites.n ? region->sites.items[0].name : region->id;

	while (at < end) {
		const struct region_site *site, *next = NULL;
		taddr stop;
		int rc;

		vec_for_each (&region->sites, site) {
			if (site->new_addr == at)
				name = site->name;
			if (site->new_addr > at && site->new_addr < end &&
			    (!next || site->new_addr < next->new_addr))
				next = site;
		}
		stop = next ? next->new_addr : end;
		rc = safety_add(safety, name, at, stop - at, false, err);
		if (rc)
			return rc;
		at = stop;
	}
	return 0;
}

/*
 * Where a tool has died both sorts of code count, but not where it has let threads go over one by
 * one: there each thread is in the one or in the other, and only those have to leave that are to go
 * over.
 */
static bool is_either(const struct transition *t, const struct region *region)
{
	return region_is_interrupted(region) && !trampolines_by_thread(t->proc, region, NULL);
}

/* Of one region that goes on or off: the code, and the trampolines on the way to it. */
static int add_region(struct safety *safety, const struct region *region,
		      enum transition_direction direction, bool either, const region_vec *present,
		      struct uspl_err *err)
{
	int rc = 0;

	if (direction == TRANSITION_ON || either) {
		rc = add_old_code(safety, region, err);
		if (rc)
			return rc;
		rc = trampolines_guard(safety, region, present, true, err);
		if (rc)
			return rc;
	}
	if (direction == TRANSITION_OFF || either) {
		rc = add_new_code(safety, region, err);
		if (rc)
			return rc;
		return trampolines_guard(safety, region, present, false, err);
	}
	return 0;
}

/*
 * A thread in the agent of a tool that has died could still swap the selector or write an entry,
 * after what this tool has done.
 */
static int add_left_agents(struct run *run, struct uspl_err *err)
{
	const struct inject_left *left;
	int rc = agent_left_find(run->t->proc, run->t->modules, &run->left, err);

	if (rc)
		return rc;
	vec_for_each (&run->left, left) {
		const char *name = "the agent of an earlier command";

		rc = safety_add(&run->safety, name, left->addr, left->len, false, err);
		if (rc)
			return rc;
		rc = safety_add(&run->passing, name, left->addr, left->len, false, err);
		if (!rc && run->leaving.ranges.n)
			rc = safety_add(&run->leaving, name, left->addr, left->len, false, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Pages that become the process's own when they are written: of the sites, of the records, and what
 * the back end brings. At the limit of its control group the kernel would kill a process for them.
 */
static int require_memory(const struct transition *t, struct uspl_err *err)
{
	uint64_t pages = 16;

	for (size_t i = 0; i < t->n_regions; i++)
		pages += 1 + 2 * t->regions[i]->sites.n;
	for (size_t i = 0; i < t->n_replaced; i++)
		pages += 1 + t->replaced[i]->sites.n;
	return memcg_require(t->proc, pages * PAGE, err);
}

/* Markers and probes come and go while an update is there, but not where its own jumps are. */
static int add_owned(struct run *run, const struct transition *t, struct uspl_err *err)
{
	auto_owners struct owners *owners = NULL;
	const struct region_site *site;
	const struct region *region;
	int rc = owners_read(t->proc, &owners, err);

	if (rc)
		return rc;
	for (size_t i = 0; (region = backend_region(run, i)) != NULL; i++) {
		vec_for_each (&region->sites, site) {
			rc = owners_refuse_at(owners, site, err);
			if (rc)
				return rc;
		}
	}
	safety_seal(&run->safety);
	safety_seal(&run->leaving);
	rc = owned_code_guard(owners, &run->safety, err);
	return rc || !run->leaving.ranges.n ? rc : owned_code_guard(owners, &run->leaving, err);
}

/*
 * True where threads have begun to go over one by one. *ret_left: how many haven't yet; NULL: that
 * isn't wanted.
 */
static bool is_by_thread(const struct transition *t, size_t *ret_left)
{
	return t->n_regions && !t->planned &&
	       trampolines_by_thread(t->proc, t->regions[0], ret_left);
}

/* What a run needs to look at the threads. */
static int run_prepare(struct run *run, const struct transition *t, int64_t deadline,
		       struct uspl_err *err)
{
	auto_regions region_vec present = { 0 };
	bool either = false;
	int rc;

	*run = (struct run){
		.t = t,
		.safety.proc = t->proc,
		.leaving.proc = t->proc,
		.passing.proc = t->proc,
		.deadline = deadline,
	};
	run->by_thread = is_by_thread(t, NULL);
	run->inactive = (struct inactive){ .safety = &run->safety, .budget = t->scan_bytes };
	rc = regions_read(t->proc, &present, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < t->n_regions; i++)
		either |= is_either(t, t->regions[i]);
	for (size_t i = 0; i < t->n_regions; i++) {
		rc = add_region(&run->safety, t->regions[i], t->direction,
				is_either(t, t->regions[i]), &present, err);
		if (!rc && either)
			rc = add_region(&run->leaving, t->regions[i], t->direction, false, &present,
					err);
		if (rc)
			return rc;
		rc = trampolines_guard(&run->passing, t->regions[i], &present,
				       t->direction == TRANSITION_ON, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < t->n_replaced; i++) {
		rc = add_region(&run->safety, t->replaced[i], TRANSITION_OFF,
				is_either(t, t->replaced[i]), &present, err);
		if (rc)
			return rc;
	}
	rc = add_owned(run, t, err);
	if (rc)
		return rc;
	rc = add_left_agents(run, err);
	if (rc)
		return rc;
	rc = vm_sharers_await(t->proc, &run->vm_sharers, deadline, err);
	if (rc)
		return rc;
	rc = require_memory(t, err);
	if (rc)
		return rc;
	rc = stack_unwinder_new(t->proc, t->modules, &run->safety.unwinder, err);
	if (rc)
		return rc;
	run->passing.unwinder = run->leaving.unwinder = run->safety.unwinder;
	safety_seal(&run->safety);
	safety_seal(&run->leaving);
	safety_seal(&run->passing);
	return 0;
}

static void run_release(struct run *run)
{
	unwinder_free(run->safety.unwinder);
	inactive_release(&run->inactive);
	safety_release(&run->safety);
	safety_release(&run->leaving);
	safety_release(&run->passing);
	vec_release(&run->left);
}
DEFINE_AUTO_RELEASE(run, struct run, run_release)
#define auto_run __attribute__((cleanup(cleanup_run_)))

static int fail_cancelled(const struct run *run, struct uspl_err *err)
{
	const struct safety_finding *finding = run->findings;

	if (!run->n_findings)
		return cancel_check(err);
	return uspl_fail(err, USPL_E_CANCELLED, "interrupted while '%s' was busy",
			 finding->function ? finding->function : "?");
}

int transition_fail_pause(pid_t pid, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_PAUSE,
		  "to stop the threads of pid %d and look at them takes more than half of the time "
		  "that they may stand still",
		  pid);
	uspl_hint(err, "try again when the machine is less busy, or with a longer --max-pause; "
		       "--check without it measures how long it takes");
	return -USPL_E_PAUSE;
}

/* None of them is stuck, and no attempt has met a thread in the functions. */
static int fail_late(pid_t pid, const struct transition_backend *backend, int attempts,
		     struct uspl_err *err)
{
	char load[BUSY_TEXT_LEN];

	uspl_fail(err, USPL_E_UNSTOPPABLE,
		  backend == &backend_stop_all
			  ? "the threads of pid %d have not all stopped within a second, in %d "
			    "attempt%s"
			  : "the threads of pid %d run too often to be looked at, in %d attempt%s",
		  pid, attempts, attempts == 1 ? "" : "s");
	busy_describe(load);
	uspl_hint(err, "%s; try again when it is less busy, or with a longer --wait", load);
	return -USPL_E_UNSTOPPABLE;
}

/*
 * By the last attempt that has found a thread in the way: the ones after it may have come too late
 * to find anything.
 */
static int fail_blocked(struct run *run, const struct transition_backend *backend, int attempts,
			struct uspl_err *err)
{
	const struct transition *t = run->t;
	auto_blockers blocker_vec blockers = { 0 };
	int rc;

	/* Processes in the same memory that come and go. */
	if (run->vm_sharers.found) {
		rc = vm_sharers_await(t->proc, &run->vm_sharers, 0, err);
		if (rc)
			return rc;
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"processes run in the memory of pid %d all the time, without being "
			"threads of it",
			t->proc->pid);
	}
	if (t->max_pause_s > 0 && run->n_busy <= attempts / 2)
		return transition_fail_pause(t->proc->pid, err);
	if (!run->n_busy)
		return fail_late(t->proc->pid, backend, attempts, err);
	rc = blockers_describe(t->proc, t->modules, &run->busy, 1, &blockers, err);
	if (rc)
		return rc;
	return blocker_fail(t->proc->pid, blockers.items, err);
}

static double stop_us(const struct run *run)
{
	return (double)(run->stop.left_ns - run->stop.entered_ns) / 1000;
}

/* Notes what an attempt came to, and how long it took. */
static void note_attempt(struct run *run, const struct transition_backend *backend,
			 struct transition_result *result)
{
	if (run->n_findings) {
		run->busy = run->findings[0];
		run->n_busy++;
	}
	result->attempts++;
	result->stop_us = stop_us(run);
	result->n_stopped = run->stop.n_threads;
	result->backend = backend->name;
	result->left_out = run->inactive.left_out;
	log_info("stop", "attempt %d, %s: %zu threads, %.0f us%s", result->attempts, backend->name,
		 run->stop.n_threads, result->stop_us,
		 run->switched     ? ""
		 : run->n_findings ? ", a function is busy"
				   : ", too long");
}

/*
 * Threads that return from the functions, and are back in them before the others have left, would
 * keep them busy for ever. They are made to wait at the entries for a while.
 */
static int hold_callers(struct run *run, const struct transition_backend *backend,
			struct waiter *waiter, const struct waiter_stop *stop, struct uspl_err *err)
{
	taddr sp[WAITER_RETURNS_MAX];
	bool before = waiter->held, guessed;
	int64_t began = run->hold_began_ns;
	int rc;

	waiter->held = false;
	if (!backend->hold || !waiter_are_back(waiter, stop, &guessed))
		return 0;
	for (size_t i = 0; i < waiter->returns.n; i++)
		sp[i] = waiter->returns.items[i].sp;
	rc = backend->hold(run, sp, waiter->returns.n, guessed, &waiter->held, err);
	/* What returned before the last hold began was let go in between. */
	if (!waiter->held || run->hold_began_ns != began)
		waiter->held_since = 0;
	/* The threads were inside when they were looked at. */
	if (waiter->held && guessed)
		waiter->held_since = stop->checked;
	if (waiter->held && !before)
		log_info("stop", "callers are held until %zu threads have left", stop->n);
	return rc;
}

static int try_until(struct run *run, const struct transition_backend *backend, int64_t deadline,
		     struct transition_result *result, struct uspl_err *err)
{
	struct waiter waiter = { .proc = run->t->proc };
	bool scanned = false;
	int rc, hurried = 0, attempts = 0;

	for (;;) {
		struct waiter_stop stop = { .findings = run->findings };

		rc = scanned ? 0 : inactive_scan(&run->inactive, err);
		if (rc)
			break;
		rc = backend->attempt(run, err);
		if (rc)
			break;
		note_attempt(run, backend, result);
		attempts++;
		if (run->switched)
			break;
		/* This process has to end for the thread to go on. */
		if (run->stop.stuck)
			rc = thread_fail_unstoppable(run->t->proc, run->stop.stuck, err);
		else if (cancel_requested())
			rc = fail_cancelled(run, err);
		else if (clock_now_ns() >= deadline)
			rc = fail_blocked(run, backend, attempts, err);
		else if (run->vm_sharers.found)
			rc = vm_sharers_await(run->t->proc, &run->vm_sharers, deadline, err);
		else if (backend != &backend_stop_all && !run->n_findings && !run->patient &&
			 ++hurried > HURRIED_MAX)
			rc = uspl_fail(err, USPL_E_UNSUPPORTED,
				       "the threads of pid %d run too often", run->t->proc->pid);
		stop.n = run->n_findings;
		stop.checked = run->checked_ns;
		stop.length = run->stop.left_ns - run->stop.entered_ns;
		if (rc)
			break;
		rc = hold_callers(run, backend, &waiter, &stop, err);
		if (rc)
			break;
		/*
		 * What the last scan has found is still all if what was seen to return has not been
		 * parked since.
		 */
		scanned = waiter_wait(&waiter, &stop, deadline) && !inactive_found(&run->inactive);
	}
	if (run->switched && waiter.held_since)
		result->held_us = (double)(clock_now_ns() - waiter.held_since) / 1000;
	waiter_release(&waiter);
	return rc;
}

/* True if another back end may do what this one can't. */
static bool is_unable(int rc)
{
	return rc == -USPL_E_UNSUPPORTED || rc == -USPL_E_OUT_OF_REACH;
}

static int run_stop_all(struct run *run, int64_t deadline, struct transition_result *result,
			struct uspl_err *err)
{
	const struct transition_backend *full = &backend_stop_all;
	int rc = full->open(run, err);

	if (!rc)
		rc = try_until(run, full, deadline, result, err);
	full->close(run);
	return rc;
}

/*
 * The stopless way, or the stop-all way where that isn't possible. Entries that lead to trampolines
 * by then don't disturb the stop-all way; they are put back if that fails, too. What goes over
 * thread by thread isn't put back, and no other way leads out of that.
 */
static int run_stopless(struct run *run, int64_t deadline, struct transition_result *result,
			struct uspl_err *err)
{
	const struct transition_backend *stopless = &backend_stopless;
	struct uspl_err why = { 0 };
	int rc = stopless->open(run, &why), finished = 0;

	if (!rc)
		rc = try_until(run, stopless, deadline, result, &why);
	if (is_unable(rc) && !run->by_thread) {
		log_info("stop", "all threads have to be stopped: %s", why.msg);
		rc = run_stop_all(run, deadline, result, &why);
	}
	if (rc != -USPL_E_STRANDED)
		finished = stopless->finish(run, rc ? NULL : &why);
	stopless->close(run);
	if (!rc)
		rc = finished;
	if (rc && err)
		*err = why;
	return rc;
}

/* Refuses entries that don't hold what they should, before anything is touched. */
static int check_entries(struct run *run, struct uspl_err *err)
{
	int rc = backend_stop_all.open(run, err);

	backend_stop_all.close(run);
	return rc ? rc : initial_check(run->t, err);
}

/* Hooks that run at a standstill need one, and so do values that change with the functions. */
static bool stops_all(const struct run *run)
{
	const struct transition *t = run->t;

	return !run->by_thread && (t->stop_all || hooks_want_standstill(t) || initial_any(t));
}

/* Between the hooks that come before all and those that follow. */
static int switch_over(struct run *run, int64_t deadline, bool back,
		       struct transition_result *result, struct uspl_err *err)
{
	const struct transition *t = run->t;
	struct uspl_err why = { 0 };
	int64_t applied_at;
	uint64_t order;
	int rc;

	/* Before the switch, so that it can still fail without harm. */
	region_now(&applied_at, &order);
	for (size_t i = 0; i < t->n_regions && t->direction == TRANSITION_ON && !back; i++) {
		rc = region_write_applied(t->proc, t->regions[i], applied_at, order, err);
		if (rc)
			return rc;
	}
	rc = stops_all(run) ? run_stop_all(run, deadline, result, err)
			    : run_stopless(run, deadline, result, err);
	/* The switch is done. The next command finds in the records that this is left. */
	if (!rc && t->n_replaced && replaced_settle(t, &why) != 0)
		log_info("replace", "the switch is made, but not all records say so: %s", why.msg);
	return rc;
}

static int run_one_way(const struct transition *t, bool back, struct transition_result *ret,
		       struct uspl_err *err)
{
	struct transition_result result = { 0 };
	int64_t deadline = clock_now_ns() + (int64_t)(t->wait_s * 1e9);
	auto_run struct run run;
	int rc;

	t->proc->wait_until_ns = deadline;
	rc = run_prepare(&run, t, deadline, err);
	if (rc)
		return rc;
	rc = check_entries(&run, err);
	if (rc)
		return rc;
	rc = cancel_check(err);
	if (rc)
		return rc;
	rc = hooks_begin(&run, err);
	if (!rc)
		rc = switch_over(&run, deadline, back, &result, err);
	rc = hooks_end(&run, rc, err);
	if (rc)
		return rc;
	*ret = result;
	agent_left_clear(t->proc, &run.left);
	return 0;
}

int transition_run(const struct transition *t, struct transition_result *ret, struct uspl_err *err)
{
	struct transition back = *t;
	struct transition_result unused;
	struct uspl_err why = { 0 };
	size_t left, behind;
	bool on;
	int rc = run_one_way(t, false, ret, err);

	if (!rc || rc == -USPL_E_STRANDED || !is_by_thread(t, &left))
		return rc;
	log_info("stop", "%zu threads have not gone over: %s", left, err ? err->msg : "");
	back.direction = t->direction == TRANSITION_ON ? TRANSITION_OFF : TRANSITION_ON;
	/* What this command has mapped is among them now. */
	if (t->comes_back && !cancel_requested() && proc_refresh_maps(t->proc, &why) == 0 &&
	    run_one_way(&back, true, &unused, &why) == 0)
		return rc;
	log_info("stop", "those that have gone over have not come back: %s", why.msg);
	if (is_by_thread(t, &behind))
		left = behind;
	/* Each thread is in the one code or in the other, and none goes back by itself. */
	on = t->regions[0]->state == USPL_REGION_SWITCHING_ON;
	uspl_fail(err, USPL_E_UNFINISHED,
		  "%zu thread%s of pid %d %s in the %s code, and all others in the %s code", left,
		  left == 1 ? "" : "s", t->proc->pid, left == 1 ? "is" : "are", on ? "old" : "new",
		  on ? "new" : "old");
	uspl_hint(err, "each of them goes over when it leaves that; 'uspl-apply' and 'uspl-undo' "
		       "bring it to an end, the one way or the other");
	return -USPL_E_UNFINISHED;
}

struct look {
	struct run *run;
	struct transition_outlook *outlook;
};

/* Looks by the way that a run would take first. */
static int look_once(void *ctx, struct uspl_err *err)
{
	const struct look *look = ctx;
	struct transition_outlook *outlook = look->outlook;
	struct run *run = look->run;
	struct uspl_err why = { 0 };
	int rc = -USPL_E_UNSUPPORTED;

	outlook->backend = backend_stopless.name;
	if (!stops_all(run))
		rc = backend_stopless_look(run, &outlook->too_long, &outlook->n_threads, &why);
	if (rc && !is_unable(rc) && err)
		*err = why;
	if (!is_unable(rc))
		return rc;
	if (why.msg[0])
		log_info("stop", "all threads have to be stopped: %s", why.msg);
	outlook->backend = backend_stop_all.name;
	rc = backend_stop_all_look(run, &outlook->too_long, err);
	outlook->n_threads = run->stop.n_threads;
	return rc;
}

int transition_look(const struct transition *t, struct transition_outlook *ret,
		    struct uspl_err *err)
{
	auto_outlook struct transition_outlook outlook = { 0 };
	auto_run struct run run;
	struct look look = { &run, &outlook };
	int rc = run_prepare(&run, t, 0, err);

	if (rc)
		return rc;
	rc = check_entries(&run, err);
	if (rc)
		return rc;
	rc = inactive_scan(&run.inactive, err);
	if (rc)
		return rc;
	rc = stop_again(t->proc, look_once, &look, err);
	if (rc)
		return rc;
	outlook.n_stopped = run.stop.n_threads;
	outlook.stop_us = stop_us(&run);
	outlook.left_out = run.inactive.left_out;
	outlook.more = run.n_findings == WAITER_MAX;
	outlook.too_long &= !run.n_findings;
	rc = blockers_describe(t->proc, t->modules, run.findings, run.n_findings, &outlook.blockers,
			       err);
	if (rc)
		return rc;
	*ret = outlook;
	outlook = (struct transition_outlook){ 0 };
	return 0;
}

void transition_outlook_release(struct transition_outlook *outlook)
{
	blockers_release(&outlook->blockers);
}
