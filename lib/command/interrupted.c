// SPDX-License-Identifier: GPL-3.0-or-later
// interrupted.c - updates that a command which died has left in the middle of their switch

#include "command/interrupted.h"

#include <string.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "inject/inject.h"
#include "record/journal.h"
#include "switch/hooks.h"
#include "switch/replaced.h"
#include "switch/trampolines.h"
#include "switch/transition.h"

/* Between two looks whether a thread is still at work for a dead tool. */
#define PAUSE_NS 5000000

static bool is_half_switched(const struct region *region, const char *id)
{
	return region_has_id(region, id) && region_is_interrupted(region) && !region->gone;
}

void interrupted_rest(const struct proc *proc, region_vec *regions, const char *id, bool write)
{
	struct region *region;

	/*
	 * Entries of the updates whose place it takes may have gone back already, and values have
	 * changed.
	 */
	if (replaced_any(regions, id))
		return;
	vec_for_each (regions, region)
		if (is_half_switched(region, id) &&
		    (region->data_values.n || !trampolines_rest(proc, region)))
			return;
	vec_for_each (regions, region) {
		if (!is_half_switched(region, id))
			continue;
		if (write && region_write_state(proc, region, USPL_REGION_UNDONE, NULL) != 0)
			log_info("survey", "the record of '%s' can't be written", id);
		region->state = USPL_REGION_UNDONE;
	}
}

/*
 * The first region that has been left so, not of the update `except` unless it takes the place of
 * others; NULL if there is none.
 */
static const struct region *find_left(const region_vec *regions, const char *except)
{
	const struct region *region;

	if (except && replaced_any(regions, except))
		except = NULL;
	vec_for_each (regions, region)
		if (region_is_interrupted(region) && !region->gone &&
		    !(except && region_has_id(region, except)))
			return region;
	return NULL;
}

/* An update that one command has switched on and another was switching off goes off. */
static enum transition_direction direction_of(const region_vec *regions, const char *id)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region_has_id(region, id) && !region->gone &&
		    region->state == USPL_REGION_SWITCHING_OFF)
			return TRANSITION_OFF;
	return TRANSITION_ON;
}

/*
 * Completes an update's switch. Where nothing leads to its code any more, or yet, its records need
 * only say so.
 */
static int complete(struct proc *proc, const module_vec *modules, region_vec *regions,
		    const char *id, const struct live_options *opts,
		    enum transition_direction direction, struct uspl_err *err)
{
	auto_free struct region **list = calloc(2 * regions->n, sizeof(*list));
	struct transition transition = { .proc = proc,
					 .modules = modules,
					 .regions = list,
					 .replaced = list ? list + regions->n : NULL,
					 .direction = direction,
					 .wait_s = opts->wait_s,
					 .max_pause_s = opts->max_pause_s,
					 .scan_bytes = (uint64_t)opts->scan_mib << 20,
					 .stop_all = opts->stop,
					 .hook_limit_s = opts->hook_limit_s,
					 .hook_pause_s = opts->hook_pause_s };
	struct transition_result result;
	struct region *region;

	if (!list)
		return uspl_fail_nomem(err);
	interrupted_rest(proc, regions, id, true);
	vec_for_each (regions, region) {
		/* Where hooks' turn has come, the state may not have followed yet. */
		bool begun = region_is_live(region) ||
			     (direction == TRANSITION_ON && region->phase && !region->gone);

		if (region_has_id(region, id) && begun &&
		    !(direction == TRANSITION_ON && region->state == USPL_REGION_APPLIED))
			list[transition.n_regions++] = region;
	}
	if (direction == TRANSITION_ON)
		transition.n_replaced = replaced_find(regions, id, transition.replaced);
	return transition.n_regions ? transition_run(&transition, &result, err) : 0;
}

/* Of what a dead tool has begun in a region a thread may still be at work, and count on. */
static int await_hooks(struct proc *proc, const module_vec *modules, region_vec *regions,
		       const struct live_options *opts, struct uspl_err *err)
{
	int64_t deadline = clock_now_ns() + (int64_t)(opts->wait_s * 1e9);
	struct region *region;
	int rc;

	for (;;) {
		rc = inject_require_alone(proc, modules, err);
		if (rc != -USPL_E_BUSY || clock_now_ns() >= deadline || cancel_requested())
			break;
		clock_pause_ns(PAUSE_NS);
	}
	if (rc)
		return rc;
	vec_for_each (regions, region) {
		rc = region->phase ? region_read_phase(proc, region, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* Completes what is due of one update's hooks, and the switch where it stands between them. */
static int settle(struct proc *proc, const module_vec *modules, region_vec *regions, const char *id,
		  const struct live_options *opts, struct uspl_err *err)
{
	auto_free struct region **list = calloc(regions->n, sizeof(*list));
	struct transition t = { .proc = proc,
				.modules = modules,
				.regions = list,
				.hook_limit_s = opts->hook_limit_s };
	enum uspl_hook_kind phase;
	struct region *region;
	int rc = 0;

	if (!list)
		return uspl_fail_nomem(err);
	vec_for_each (regions, region)
		if (region_has_id(region, id) && region->phase && !region->gone)
			list[t.n_regions++] = region;
	phase = hooks_phase(list, t.n_regions);
	t.direction = phase < USPL_HOOK_PRE_UNDO ? TRANSITION_ON : TRANSITION_OFF;
	if (phase == USPL_HOOK_APPLY || phase == USPL_HOOK_UNDO)
		rc = complete(proc, modules, regions, id, opts, t.direction, err);
	if (!rc && hooks_phase(list, t.n_regions))
		rc = hooks_settle(&t, err);
	if (rc)
		uspl_context(err, "hooks of the update '%s' that a command had left are due", id);
	return rc;
}

static const struct region *find_hooked(const region_vec *regions)
{
	const struct region *region;

	vec_for_each (regions, region)
		if (region->phase && !region->gone)
			return region;
	return NULL;
}

int interrupted_complete(struct proc *proc, const module_vec *modules, region_vec *regions,
			 const char *except, const struct live_options *opts,
			 struct uspl_err *ret_note, struct uspl_err *err)
{
	const struct region *left;
	struct uspl_err why;
	int rc;

	if (opts->check)
		return 0;
	left = find_hooked(regions);
	rc = left ? await_hooks(proc, modules, regions, opts, err) : 0;
	if (rc)
		return rc;
	while ((left = find_hooked(regions)) != NULL) {
		rc = settle(proc, modules, regions, left->id, opts, err);
		uspl_fail(ret_note, USPL_E_CONFLICT,
			  "the update '%s', whose hooks a command had left in the middle of their "
			  "work, is %s in pid %d now",
			  left->id, region_state_name(left->state), proc->pid);
		if (rc)
			return rc;
	}
	while ((left = find_left(regions, except)) != NULL) {
		const char *id = left->id;
		enum transition_direction direction = direction_of(regions, id);
		bool on;

		rc = complete(proc, modules, regions, id, opts, direction, err);
		if (rc) {
			uspl_context(err,
				     "the update '%s' has been left in the middle of its switch",
				     id);
			return rc;
		}
		/* The switch is made, and its end failed for a reason that may pass: -v says it. */
		if (region_is_interrupted(left)) {
			uspl_fail(err, USPL_E_UNSTOPPABLE,
				  "the update '%s' has been left in the middle of its switch, and "
				  "not all of its entries and records can be written now",
				  id);
			uspl_hint(err, "try again later; -v says what stands in the way");
			return -USPL_E_UNSTOPPABLE;
		}
		on = left->state == USPL_REGION_APPLIED;
		if (on && journal_note(left, &why) != 0)
			log_info("journal", "%s", why.msg);
		uspl_fail(
			ret_note, USPL_E_CONFLICT,
			"the update '%s', which a command had left in the middle of its switch, is "
			"%s pid %d now",
			id, on ? "applied to" : "undone in", proc->pid);
	}
	return 0;
}
