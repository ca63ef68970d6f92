// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * hooks.c - the hooks of an update, in the phases of its transition
 *
 * The phases go like this, each one written into the records of all regions before its first hook
 * runs (that of the hooks that are asked at a standstill is still PRE_APPLY):
 *
 *     PRE_APPLY    no: FAIL_APPLY
 *     CHECK_APPLY  no: FAIL_APPLY
 *     APPLY        fails: FAIL_APPLY; else the entries are switched
 *     POST_APPLY   and nothing more
 *
 * A region in no phase takes no part: its own hooks have all run, or none of them has yet.
 */

#include "switch/hooks.h"

#include <inttypes.h>
#include <string.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/hook_kind.h"
#include "base/log.h"
#include "safety/safe_call.h"
#include "switch/backend.h"

/* From the kind for apply to the same one for undo. */
#define UNDO_OFFSET (USPL_HOOK_PRE_UNDO - USPL_HOOK_PRE_APPLY)

/* A hook whose turn has come. */
struct due {
	struct region *region;
	const struct region_hook *hook;
	uint32_t number; /* among those of its kind in the region, as they run; from 1 */
};

typedef VEC(struct due) due_vec;

static enum uspl_hook_kind kind_for(const struct transition *t, enum uspl_hook_kind apply)
{
	return t->direction == TRANSITION_ON ? apply : apply + UNDO_OFFSET;
}

static bool have(const struct transition *t, enum uspl_hook_kind kind)
{
	for (size_t i = 0; i < t->n_regions; i++) {
		const struct region_hook *hook;

		vec_for_each (&t->regions[i]->hooks, hook)
			if (hook->kind == kind)
				return true;
	}
	return false;
}

static bool have_any(const struct transition *t)
{
	for (size_t i = 0; i < t->n_regions; i++)
		if (t->regions[i]->has_hooks)
			return true;
	return false;
}

bool hooks_want_standstill(const struct transition *t)
{
	return have(t, kind_for(t, USPL_HOOK_CHECK_APPLY)) || have(t, kind_for(t, USPL_HOOK_APPLY));
}

enum uspl_hook_kind hooks_phase(struct region *const *regions, size_t n)
{
	enum uspl_hook_kind phase = USPL_HOOK_NONE;

	for (size_t i = 0; i < n; i++)
		if (regions[i]->phase > phase)
			phase = regions[i]->phase;
	return phase;
}

/* Those that take part are in this phase from now on. */
static int enter(const struct transition *t, enum uspl_hook_kind phase, struct uspl_err *err)
{
	bool first = phase == kind_for(t, USPL_HOOK_PRE_APPLY);

	for (size_t i = 0; i < t->n_regions; i++) {
		struct region *region = t->regions[i];
		bool takes_part = region->has_hooks && (first || region->phase);
		int rc;

		if (!takes_part || region->phase == phase)
			continue;
		rc = region_write_phase(t->proc, region, phase, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int find_due(const struct transition *t, enum uspl_hook_kind kind, due_vec *ret,
		    struct uspl_err *err)
{
	bool reverse = hook_kind_is_reverse(kind);

	for (size_t i = 0; i < t->n_regions; i++) {
		struct region *region = t->regions[reverse ? t->n_regions - 1 - i : i];
		size_t n = region->phase ? region->hooks.n : 0;
		uint32_t number = 0;

		for (size_t j = 0; j < n; j++) {
			struct region_hook *hook = &region->hooks.items[reverse ? n - 1 - j : j];
			struct due *due;

			if (hook->kind != kind)
				continue;
			if (++number <= region->hooks_done && region->phase == kind)
				continue;
			due = vec_push(ret);
			if (!due)
				return uspl_fail_nomem(err);
			*due = (struct due){ region, hook, number };
		}
	}
	return 0;
}

/* Notes what has come of a call: for -v, and for the command's result. */
static void log_call(const struct transition *t, const struct due *due,
		     const struct inject_watch *watch, int result, int64_t began)
{
	struct hook_run *item = t->hooks ? vec_push(t->hooks) : NULL;
	double us = (double)(clock_now_ns() - began) / 1000;
	const char *kind = hook_kind_name(due->hook->kind);

	if (watch->late)
		log_info("hooks", "hook '%s' (%s) was ended after %.0f us", due->hook->name, kind,
			 us);
	else if (watch->signal)
		log_info("hooks", "hook '%s' (%s) got signal %d after %.0f us", due->hook->name,
			 kind, watch->signal, us);
	else if (hook_kind_asks(due->hook->kind))
		log_info("hooks", "hook '%s' (%s) returned %d after %.0f us", due->hook->name, kind,
			 result, us);
	else
		log_info("hooks", "hook '%s' (%s) returned after %.0f us", due->hook->name, kind,
			 us);
	if (item)
		*item = (struct hook_run){
			strdup(due->hook->name), due->hook->kind, us, watch->late,
			watch->signal,           result
		};
}

/* What a call that was made has come to. */
static int judge(const struct due *due, const struct inject_watch *watch, int result,
		 struct uspl_err *err)
{
	enum uspl_hook_kind kind = due->hook->kind;
	const char *name = due->hook->name;

	if (watch->late) {
		uspl_fail(err, USPL_E_HOOK, "hook '%s' (%s) had not returned after %g s", name,
			  hook_kind_name(kind), (double)watch->limit_ns / 1e9);
		uspl_hint(err, "give it more time with %s=SECONDS",
			  hook_kind_is_still(kind) ? "--hook-pause" : "--hook-limit");
		return -USPL_E_HOOK;
	}
	if (watch->signal)
		return uspl_fail(err, USPL_E_HOOK, "hook '%s' (%s) got signal %d (%s)", name,
				 hook_kind_name(kind), watch->signal, strsignal(watch->signal));
	if (hook_kind_asks(kind) && result)
		return uspl_fail(err, USPL_E_HOOK, "hook '%s' (%s) refuses: it returned %d", name,
				 hook_kind_name(kind), result);
	return 0;
}

/* Calls one while the threads run. USPL_E_BUSY: it wasn't called. */
static int run_beside(const struct transition *t, const struct due *due, struct uspl_err *err)
{
	struct inject_watch watch = { .limit_ns = (int64_t)(t->hook_limit_s * 1e9) };
	struct inject_req call = { .kind = INJECT_CALL, .what = due->hook->addr };
	const struct safe_call_note note = { region_hooks_done_at(due->region), due->number };
	int64_t began = clock_now_ns();
	int rc = safe_call_run_noted(t->proc, t->modules, &call, &note, &watch, err);
	bool failed = watch.late || watch.signal;

	if (rc && !failed) {
		uspl_context(err, "hook '%s' (%s)", due->hook->name,
			     hook_kind_name(due->hook->kind));
		return rc;
	}
	/* One that failed has had its turn, too. */
	if (failed && proc_write(t->proc, region_hooks_done_at(due->region), &due->number,
				 sizeof(due->number), NULL) != 0)
		log_info("hooks", "the record of '%s' can't be written", due->region->id);
	due->region->hooks_done = due->number;
	log_call(t, due, &watch, (int)call.result, began);
	return judge(due, &watch, (int)call.result, err);
}

/*
 * Calls all of a kind while the threads run. Those that can't refuse all get their turn;
 * *ret_failed then tells that one has failed.
 */
static int run_all_beside(const struct transition *t, enum uspl_hook_kind kind, bool *ret_failed,
			  struct uspl_err *err)
{
	auto_vec due_vec due = { 0 };
	const struct due *one;
	int rc = find_due(t, kind, &due, err);

	vec_for_each (&due, one) {
		struct uspl_err why = { 0 };

		if (!rc && hook_kind_asks(kind))
			rc = cancel_check(err);
		if (rc)
			return rc;
		rc = run_beside(t, one, &why);
		if (rc == -USPL_E_HOOK && !hook_kind_asks(kind)) {
			*ret_failed = true;
			rc = 0;
		}
		if (rc && err)
			*err = why;
	}
	/* They may have mapped memory. */
	return rc || !due.n ? rc : proc_refresh_maps(t->proc, err);
}

/* Makes the requests in the first of the threads that has room for them. */
static int run_in_any(struct run *run, struct inject_req *reqs, size_t n,
		      struct inject_watch *watch, struct uspl_err *err)
{
	struct thread *thread;
	int rc = uspl_fail(err, USPL_E_UNSTOPPABLE, "no thread of pid %d can run the hook",
			   run->t->proc->pid);

	vec_for_each (&run->stop.threads, thread) {
		if (thread->state != THREAD_STOPPED || thread->signal)
			continue;
		rc = inject_run_stopped(run->agent, thread, reqs, n, watch, err);
		if (!rc || watch->late || watch->signal)
			return rc;
		if (rc != -USPL_E_UNSTOPPABLE && rc != -USPL_E_UNSUPPORTED)
			return rc;
	}
	return rc;
}

/* Calls one at a standstill, and counts it if it acts. */
static int run_still(struct run *run, const struct due *due, struct uspl_err *err)
{
	const struct transition *t = run->t;
	bool counts = !hook_kind_asks(due->hook->kind);
	struct inject_watch watch = { .limit_ns = (int64_t)(t->hook_pause_s * 1e9) };
	const struct inject_req call = { .kind = INJECT_CALL, .what = due->hook->addr };
	const struct safe_call_note note = { region_hooks_done_at(due->region), due->number };
	struct inject_req reqs[SAFE_CALL_REQUESTS] = { call };
	int64_t began = clock_now_ns();
	int rc = counts ? safe_call_note_requests(t->proc, &call, &note, reqs, err) : 0, result;

	if (rc)
		return rc;
	rc = run_in_any(run, reqs, counts ? SAFE_CALL_REQUESTS : 1, &watch, err);
	if (rc && !watch.late && !watch.signal) {
		uspl_context(err, "hook '%s' (%s)", due->hook->name,
			     hook_kind_name(due->hook->kind));
		return rc;
	}
	result = (int)reqs[counts ? 1 : 0].result;
	if (counts && (watch.late || watch.signal)) {
		struct inject_watch again = { .limit_ns = watch.limit_ns };

		if (run_in_any(run, &reqs[3], 1, &again, NULL) != 0)
			log_info("hooks", "a record of pid %d stays writable for it", t->proc->pid);
	} else if (counts) {
		due->region->hooks_done = due->number;
	}
	log_call(t, due, &watch, result, began);
	return judge(due, &watch, result, err);
}

static int run_all_still(struct run *run, enum uspl_hook_kind kind, struct uspl_err *err)
{
	auto_vec due_vec due = { 0 };
	const struct due *one;
	int rc = find_due(run->t, kind, &due, err);

	if (rc)
		return rc;
	vec_for_each (&due, one) {
		rc = run_still(run, one, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A dead tool had come as far as the apply hooks. */
static bool is_resumed(const struct transition *t)
{
	return hooks_phase(t->regions, t->n_regions) == kind_for(t, USPL_HOOK_APPLY);
}

int hooks_begin(struct run *run, struct uspl_err *err)
{
	const struct transition *t = run->t;
	enum uspl_hook_kind pre = kind_for(t, USPL_HOOK_PRE_APPLY);
	bool failed;
	int rc;

	run->resumed = is_resumed(t);
	if (!have_any(t) || run->resumed)
		return 0;
	rc = enter(t, pre, err);
	if (rc)
		return rc;
	return run_all_beside(t, pre, &failed, err);
}

int hooks_act(struct run *run, struct uspl_err *err)
{
	const struct transition *t = run->t;
	enum uspl_hook_kind act = kind_for(t, USPL_HOOK_APPLY);
	int rc;

	if (!have_any(t))
		return 0;
	if (!run->resumed) {
		rc = run_all_still(run, kind_for(t, USPL_HOOK_CHECK_APPLY), err);
		if (rc)
			return rc;
	}
	rc = enter(t, act, err);
	if (rc)
		return rc;
	rc = run_all_still(run, act, err);
	/* Whatever comes now, the next command must not go on from here. */
	if (rc && enter(t, kind_for(t, USPL_HOOK_FAIL_APPLY), NULL) != 0)
		log_info("hooks", "the record of '%s' can't be written", t->regions[0]->id);
	return rc;
}

/* Hooks that can't refuse; one that hasn't got its turn stays due for the next command. */
static int follow(const struct transition *t, enum uspl_hook_kind kind, bool *ret_failed,
		  struct uspl_err *err)
{
	int rc = enter(t, kind, err);

	if (rc)
		return rc;
	rc = run_all_beside(t, kind, ret_failed, err);
	if (rc)
		return rc;
	return enter(t, USPL_HOOK_NONE, err);
}

static void tell_left(const struct transition *t, enum uspl_hook_kind kind, const char *why)
{
	log_info("hooks", "%s hooks of '%s' are due, the next command runs them: %s",
		 hook_kind_name(kind), t->regions[0]->id, why);
}

/* After a failure; `acted`: hooks have run, or begun, that change what the program has. */
static int take_back(const struct transition *t, bool acted, int rc, struct uspl_err *err)
{
	enum uspl_hook_kind kind = kind_for(t, USPL_HOOK_FAIL_APPLY);
	bool failed = false, has = have(t, kind);
	struct uspl_err why = { 0 };
	int left = follow(t, kind, &failed, &why);

	if (left)
		tell_left(t, kind, why.msg);
	if (!acted || (has && !failed && !left))
		return rc;
	if (err) {
		err->code = USPL_E_STRANDED;
		uspl_hint(err, "what the %s hooks have done until then stays: %s",
			  hook_kind_name(kind_for(t, USPL_HOOK_APPLY)),
			  has ? "the hooks that take it back have failed, too"
			      : "the update has no hook that takes it back");
	}
	return -USPL_E_STRANDED;
}

int hooks_end(const struct run *run, int rc, struct uspl_err *err)
{
	const struct transition *t = run->t;
	enum uspl_hook_kind phase = hooks_phase(t->regions, t->n_regions);
	enum uspl_hook_kind act = kind_for(t, USPL_HOOK_APPLY);
	struct uspl_err why = { 0 };
	bool failed;

	if (!phase || rc == -USPL_E_STRANDED || rc == -USPL_E_NO_PROCESS)
		return rc;
	/* What a dead tool has begun is tried once more by the next command. */
	if (rc && phase == act && run->resumed)
		return rc;
	if (rc)
		return take_back(t, phase != kind_for(t, USPL_HOOK_PRE_APPLY) && have(t, act), rc,
				 err);
	if (follow(t, kind_for(t, USPL_HOOK_POST_APPLY), &failed, &why) != 0)
		tell_left(t, kind_for(t, USPL_HOOK_POST_APPLY), why.msg);
	return 0;
}

int hooks_settle(const struct transition *t, struct uspl_err *err)
{
	enum uspl_hook_kind phase = hooks_phase(t->regions, t->n_regions);
	bool undo = phase >= USPL_HOOK_PRE_UNDO;
	enum uspl_hook_kind apply = undo ? phase - UNDO_OFFSET : phase;
	bool failed;

	if (apply == USPL_HOOK_PRE_APPLY)
		phase = phase - USPL_HOOK_PRE_APPLY + USPL_HOOK_FAIL_APPLY;
	/* All is switched, and the record doesn't say so yet. */
	if (apply == USPL_HOOK_APPLY)
		phase = phase - USPL_HOOK_APPLY + USPL_HOOK_POST_APPLY;
	return follow(t, phase, &failed, err);
}

void hook_log_release(hook_log *log)
{
	struct hook_run *run;

	vec_for_each (log, run)
		free(run->name);
	vec_release(log);
}
