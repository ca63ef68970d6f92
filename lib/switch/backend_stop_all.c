// SPDX-License-Identifier: GPL-3.0-or-later
// backend_stop_all.c - the transition's back end that stops every thread

#include <string.h>

#include "switch/backend.h"
#include "switch/hooks.h"
#include "switch/initial.h"
#include "switch/replaced.h"
#include "switch/trampolines.h"

static int stop_all_open(struct run *run, struct uspl_err *err)
{
	const struct transition *t = run->t;
	struct site_plan *plan = &run->plan;
	bool on = t->direction == TRANSITION_ON;
	const struct region_site *rs;
	int rc = 0;

	*plan = (struct site_plan){ .proc = t->proc };
	for (size_t i = 0; i < t->n_regions; i++) {
		plan->either |= region_is_interrupted(t->regions[i]);
		vec_for_each (&t->regions[i]->sites, rs) {
			struct site site = { .name = rs->name, .addr = rs->addr, .len = rs->len };

			memcpy(site.from, on ? rs->old_bytes : rs->new_bytes, sizeof(site.from));
			memcpy(site.to, on ? rs->new_bytes : rs->old_bytes, sizeof(site.to));
			site.has_trampoline = trampolines_jump(t->regions[i], rs, site.trampoline);
			rc = site_plan_add(plan, &site, err);
			if (rc)
				return rc;
		}
	}
	rc = replaced_add_sites(t, plan, err);
	if (rc)
		return rc;
	return site_plan_check(plan, err);
}

static void stop_all_close(struct run *run)
{
	site_plan_release(&run->plan);
}

/* Looks at all their stacks, even after a hit: the next attempt comes when all these have left. */
static void check_stacks(struct run *run, bool slept)
{
	const struct thread *thread;

	vec_for_each (&run->stop.threads, thread)
		if (thread->slept == slept && thread->state == THREAD_STOPPED &&
		    run->n_findings < WAITER_MAX &&
		    !safety_check(&run->safety, thread, backend_next_finding(run)))
			backend_add_finding(run);
}

/* With all threads at a standstill, when the stacks of those that slept have been checked. */
static bool check_rest(struct run *run)
{
	check_stacks(run, false);
	if (!run->n_findings &&
	    !inactive_check(&run->inactive, &run->stop.threads, backend_next_finding(run)))
		backend_add_finding(run);
	run->checked_ns = clock_now_ns();
	return !run->n_findings;
}

static int write_states(struct run *run, enum uspl_region_state state, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < run->t->n_regions; i++) {
		rc = region_write_state(run->t->proc, run->t->regions[i], state, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A thread on its way through a trampoline reads the selector. */
static int write_selectors(struct run *run, enum uspl_selector_value value, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < run->t->n_regions; i++) {
		rc = trampolines_write_selector(run->t->proc, run->t->regions[i], value, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * With all threads at a standstill: the record says what is going on before and after the code
 * changes.
 */
static int switch_all(struct run *run, struct uspl_err *err)
{
	bool on = run->t->direction == TRANSITION_ON;
	enum uspl_region_state before = run->t->regions[0]->state;
	int rc = initial_check(run->t, err), put_back;

	if (rc)
		return rc;
	rc = hooks_act(run, err);
	if (rc)
		return rc;
	rc = write_states(run, on ? USPL_REGION_SWITCHING_ON : USPL_REGION_SWITCHING_OFF, err);
	if (!rc)
		rc = initial_switch(run->t, err);
	if (!rc)
		rc = site_plan_switch(&run->plan, err);
	if (rc == -USPL_E_STRANDED)
		return rc;
	if (!rc) {
		rc = write_selectors(run, on ? USPL_SELECTOR_NEW : USPL_SELECTOR_OLD, err);
		/* With replaced updates the records follow when the threads run again. */
		if (!rc && !run->t->n_replaced)
			rc = write_states(run, on ? USPL_REGION_APPLIED : USPL_REGION_UNDONE, err);
		run->switched = !rc;
		if (!rc)
			return 0;
		put_back = site_plan_restore(&run->plan, err);
		if (put_back)
			return put_back;
	}
	/* The sites are as they were; values, selectors and states follow. */
	initial_restore(run->t);
	put_back = write_selectors(run, on ? USPL_SELECTOR_OLD : USPL_SELECTOR_NEW, NULL);
	if (!put_back)
		put_back = write_states(run, before, NULL);
	return put_back && err && err->code != USPL_E_NO_PROCESS ? -USPL_E_STRANDED : rc;
}

/* With all threads at a standstill: a library that may be unloaded must still lie where it was. */
static int check_modules(const struct run *run, struct uspl_err *err)
{
	const struct region *region;

	for (size_t i = 0; (region = backend_region(run, i)) != NULL; i++) {
		const struct module *module = module_at(run->t->modules, region->module);

		if (module && !module->lasting && module_is_gone(run->t->proc, module))
			return uspl_fail(err, USPL_E_OVERWRITTEN,
					 "'%s' was unloaded meanwhile by pid %d",
					 region->module_name, run->t->proc->pid);
	}
	return 0;
}

/* One standstill; calls `act`, where given, in it if the code is empty. */
static int stand_still(struct run *run, int (*act)(struct run *run, struct uspl_err *err),
		       bool *ret_blocked, struct uspl_err *err)
{
	bool limited = run->t->max_pause_s > 0, late = false;
	int64_t deadline;
	int rc;

	run->n_findings = 0;
	run->stop = (struct stop){ 0 };
	*ret_blocked = !vm_sharers_none_since(run->t->proc, &run->vm_sharers);
	if (*ret_blocked)
		return 0;
	rc = stop_attach(&run->stop, run->t->proc, err);
	if (rc)
		return rc;
	rc = stop_late(&run->stop, err);
	deadline = backend_deadline(run);
	if (!rc)
		rc = stop_sleepers(&run->stop, deadline, err);
	/*
	 * The stacks of those that slept are looked at while the others still run, since only the
	 * thread itself changes what is looked for there.
	 */
	if (!rc) {
		check_stacks(run, true);
		rc = stop_enter(&run->stop, deadline, err);
	}
	*ret_blocked = !rc && (!check_rest(run) || (limited && clock_now_ns() > deadline) ||
			       !vm_sharers_none_since(run->t->proc, &run->vm_sharers));
	if (!rc && !*ret_blocked && act)
		rc = check_modules(run, err);
	if (!rc && !*ret_blocked && act)
		rc = act(run, err);
	else
		late = rc == -USPL_E_UNSTOPPABLE;
	stop_leave(&run->stop);
	if (!late || !backend_may_try_again(run))
		return rc;
	*ret_blocked = true;
	return 0;
}

int backend_stop_all_look(struct run *run, bool *ret_late, struct uspl_err *err)
{
	bool blocked = false;
	int rc = stand_still(run, NULL, &blocked, err);

	if (rc)
		return rc;
	*ret_late = blocked && !run->n_findings;
	return 0;
}

static int stop_all_attempt(struct run *run, struct uspl_err *err)
{
	bool blocked;
	int rc = site_plan_prepare(&run->plan, err);

	if (!rc && hooks_want_standstill(run->t))
		rc = agent_new(run->t->proc, run->t->modules, &run->agent, err);
	if (rc)
		return rc;
	rc = stand_still(run, switch_all, &blocked, err);
	agent_free(run->agent);
	run->agent = NULL;
	return rc;
}

/* All of it was done in the stop. */
static int stop_all_finish(struct run *run, struct uspl_err *err)
{
	(void)run;
	(void)err;
	return 0;
}

const struct transition_backend backend_stop_all = {
	.name = "full stop",
	.open = stop_all_open,
	.attempt = stop_all_attempt,
	.finish = stop_all_finish,
	.close = stop_all_close,
};
