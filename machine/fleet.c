// SPDX-License-Identifier: GPL-3.0-or-later
// fleet.c - a command for many processes: those that were named, and those that are selected
/*
 * A child that a process forks after it was changed is changed, too. So each round leaves fewer
 * that aren't, unless the program is executed anew all the time, which ROUNDS_MAX is for.
 */

#include "machine/fleet.h"

#include <string.h>

#include "base/cancel.h"
#include "base/log.h"

#define ROUNDS_MAX 20

static int add_member(crew_vec *members, const struct census_process *process, bool named,
		      struct uspl_err *err)
{
	struct crew_member *member = vec_push(members);

	if (!member)
		return uspl_fail_nomem(err);
	*member = (struct crew_member){ *process, named };
	return 0;
}

/* The first time, processes with nothing left to be done are members, too: the command says so. */
static int add_found(struct search *search, const struct search_result *result, bool first,
		     crew_vec *members, struct uspl_err *err)
{
	const struct search_found *found;
	int rc;

	vec_for_each (&result->found, found) {
		if (!first && found->answer != SEARCH_OPEN)
			continue;
		rc = add_member(members, &found->process, false, err);
		if (rc)
			return rc;
		rc = search_know(search, &found->process, err);
		if (rc)
			return rc;
	}
	return 0;
}

static size_t unreadable(const struct search_result *result)
{
	return result->n_denied + result->n_hidden;
}

static int fail_none(const struct fleet *fleet, const struct search_result *result,
		     struct uspl_err *err)
{
	auto_buf struct buf by = { 0 };
	enum uspl_code code = fleet->none;

	selection_describe(fleet->sel, &by);
	if (!selection_narrows(fleet->sel)) {
		uspl_fail(err, code, "no process that can be read %s", fleet->what);
	} else if (!result->n_meant) {
		code = USPL_E_NO_PROCESS;
		uspl_fail(err, code, "there is no process for '%s'", buf_str(&by));
	} else {
		uspl_fail(err, code, "of the %zu process%s for '%s' none %s", result->n_meant,
			  result->n_meant == 1 ? "" : "es", buf_str(&by), fleet->what);
	}
	if (unreadable(result))
		uspl_hint(err, "processes that this user may not read: %zu", unreadable(result));
	return -(int)code;
}

/* Some of the selected processes may not be read by this user. */
static int tell_denied(const struct fleet *fleet, const struct search_result *result)
{
	const struct crew_member nobody = { 0 };
	auto_buf struct buf by = { 0 };
	struct uspl_err why = { 0 };

	if (!selection_narrows(fleet->sel) || !result->n_denied)
		return USPL_STATUS_DONE;
	selection_describe(fleet->sel, &by);
	uspl_fail(&why, USPL_E_PERMISSION,
		  "of the %zu process%s for '%s' this user may not read %zu", result->n_meant,
		  result->n_meant == 1 ? "" : "es", buf_str(&by), result->n_denied);
	uspl_hint(&why, "run as the processes' user or as root");
	fleet->work.fail(&nobody, &why, fleet->work.ctx);
	return (int)uspl_code_status((int)why.code);
}

/* The rounds after the first one. What they fail with counts among the exit statuses. */
static int look_again(const struct fleet *fleet, struct search *search, int worst)
{
	struct uspl_err err = { 0 };
	int rc = 0;

	for (int round = 1; !rc && !cancel_requested(); round++) {
		auto_search_result struct search_result result = { 0 };
		auto_vec crew_vec members = { 0 };
		int status;

		rc = search_run(search, &result, &err);
		if (!rc)
			rc = add_found(search, &result, false, &members, &err);
		if (!rc && !members.n)
			return worst;
		if (!rc && round == ROUNDS_MAX) {
			rc = uspl_fail(&err, USPL_E_BUSY,
				       "after %d searches there are still new processes that %s",
				       ROUNDS_MAX, fleet->todo);
			uspl_hint(&err, "they are being started all the time; a program that is "
					"started anew runs the code of its file");
		}
		if (rc)
			break;
		log_info("machine", "new processes: %zu", members.n);
		status = crew_run(&members, &fleet->work);
		worst = status > worst ? status : worst;
	}
	if (rc) {
		struct crew_member nobody = { 0 };
		int status = (int)uspl_code_status(rc);

		fleet->work.fail(&nobody, &err, fleet->work.ctx);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static int run(const struct fleet *fleet, struct search *search, struct uspl_err *err)
{
	auto_search_result struct search_result result = { 0 };
	bool selects = selection_selects(fleet->sel), is_kernel;
	auto_vec crew_vec members = { 0 };
	const pid_t *pid;
	int worst, denied, rc;

	/* What was named isn't selected besides. */
	vec_for_each (&fleet->sel->named, pid) {
		struct census_process process = { .pid = *pid };

		rc = add_member(&members, &process, true, err);
		if (rc)
			return rc;
		if (census_read(*pid, &process, &is_kernel, NULL) != 0)
			continue;
		rc = search_know(search, &process, err);
		if (rc)
			return rc;
	}
	if (selects) {
		rc = search_run(search, &result, err);
		if (rc)
			return rc;
		rc = add_found(search, &result, true, &members, err);
		if (rc)
			return rc;
		log_info("machine", "processes: %zu, of which this user may not read: %zu",
			 result.n_meant, unreadable(&result));
	}
	if (!members.n && result.n_denied && selection_narrows(fleet->sel))
		return tell_denied(fleet, &result);
	if (!members.n)
		return fail_none(fleet, &result, err);
	denied = tell_denied(fleet, &result);
	worst = crew_run(&members, &fleet->work);
	worst = denied > worst ? denied : worst;
	return selects && !fleet->once ? look_again(fleet, search, worst) : worst;
}

int fleet_run(const struct fleet *fleet, struct uspl_err *err)
{
	struct search search = { .sel = fleet->sel, .look = fleet->look, .ctx = fleet->work.ctx };
	int rc;

	/* On one process this process itself works. */
	if (!selection_is_many(fleet->sel))
		return fleet->work.run(&(struct crew_member){ { .pid = fleet->sel->named.items[0] },
							      true },
				       fleet->work.ctx);
	rc = run(fleet, &search, err);
	search_release(&search);
	return rc;
}
