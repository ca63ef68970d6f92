// SPDX-License-Identifier: GPL-3.0-or-later
// top_rows.c - what a process's functions did between two readings of a profile

#include "trace/top/top_rows.h"

#include "base/clock.h"
#include "trace/engine/clocks.h"

int top_rows_open(struct top_rows *rows, pid_t pid, struct uspl_err *err)
{
	const struct view *view = &rows->tally.view;
	int rc = tally_open(pid, &rows->tally, err);

	if (rc)
		return rc;
	if (rows->tally.config.head.job != USPL_LISTEN_PROFILE) {
		uspl_fail(err, USPL_E_CONFLICT, "pid %d is traced already, not by 'profile'", pid);
		uspl_hint(err, "'uspl-trace stop %d' ends that", pid);
		return -USPL_E_CONFLICT;
	}
	return names_find(view->proc, &view->modules, &view->session, &rows->names, err);
}

void top_rows_close(struct top_rows *rows)
{
	vec_release(&rows->rows);
	call_sums_release(&rows->sums);
	names_release(&rows->names);
	tally_close(&rows->tally);
}

/* Fails if the session isn't there any more, or another one is. */
static int check_session(const struct top_rows *rows, struct uspl_err *err)
{
	struct proc *proc = rows->tally.view.proc;
	const struct trace_session *before = &rows->tally.view.session;
	auto_session struct trace_session now = { 0 };
	int rc = proc_refresh_maps(proc, err);

	if (rc)
		return rc;
	rc = trace_session_read(proc, &now, err);
	if (rc)
		return rc;
	if (now.regions.n != before->regions.n ||
	    now.regions.items[0].head.start_ticks != before->regions.items[0].head.start_ticks ||
	    !trace_session_is_on(&now))
		return uspl_fail(err, USPL_E_NOT_APPLIED, "pid %d is traced no more", proc->pid);
	return 0;
}

/* What was added up of calls that ended between the readings. */
static struct call_sum difference(const struct call_sum *now, const struct call_sum *before)
{
	struct call_sum sum = *now;

	if (!before)
		return sum;
	sum.calls -= before->calls;
	sum.cell.sum -= before->cell.sum;
	sum.cell.untimed -= before->cell.untimed;
	for (size_t i = 0; i < USPL_SUMS_BUCKETS; i++)
		sum.cell.buckets[i] -= before->cell.buckets[i];
	return sum;
}

/* The bound, in ns, that 99 of 100 calls are below; 0 if there are no calls. */
static double p99_of(const struct call_sum *sum)
{
	uint64_t n = 0, below = 0;

	for (size_t i = 0; i < USPL_SUMS_BUCKETS; i++)
		n += sum->cell.buckets[i];
	for (size_t i = 0; n && i < USPL_SUMS_BUCKETS; i++) {
		below += sum->cell.buckets[i];
		if (below * 100 >= n * 99)
			return (double)(1ull << (USPL_SUMS_FIRST_LOG + i));
	}
	return 0;
}

/* More than before; a running process is read while it goes on. */
static double grown(const struct tally *tally, uint64_t now, uint64_t before)
{
	return now > before ? tally_ns(tally, now - before) : 0;
}

static int add_row(struct top_rows *rows, const struct call_sum *now, const struct call_sum *before,
		   struct uspl_err *err)
{
	const struct tally *tally = &rows->tally;
	struct call_sum sum = difference(now, before);
	struct top_row row = {
		.id = now->id,
		.calls = sum.calls,
		.open = now->open,
		.self = grown(tally, call_sums_self(now), before ? call_sums_self(before) : 0),
		.total = grown(tally, call_sums_total(now), before ? call_sums_total(before) : 0),
		.avg = call_sums_average(&sum) * tally->ns_per_tick,
		.p99 = p99_of(&sum),
		.max = tally_ns(tally, now->cell.max),
	};
	struct top_row *place;

	if (!row.calls && !row.open)
		return 0;
	place = vec_push(&rows->rows);
	if (!place)
		return uspl_fail_nomem(err);
	*place = row;
	return 0;
}

int top_rows_read(struct top_rows *rows, struct uspl_err *err)
{
	struct tally *tally = &rows->tally;
	auto_call_sums struct call_sums now = { 0 };
	int64_t read_ns = clock_now_ns();
	const struct call_sum *sum;
	struct call_sums before;
	size_t i = 0;
	int rc = check_session(rows, err);

	if (rc)
		return rc;
	rc = listen_config_threads(tally->view.proc, &tally->view.session, &tally->n_threads, err);
	if (rc)
		return rc;
	rc = call_sums_read(tally, &now, err);
	if (rc)
		return rc;
	call_sums_merge(&now);
	before = rows->sums;
	rows->rows.n = 0;
	vec_for_each (&now.rows, sum) {
		while (i < before.rows.n && before.rows.items[i].id < sum->id)
			i++;
		rc = add_row(rows, sum,
			     i < before.rows.n && before.rows.items[i].id == sum->id
				     ? &before.rows.items[i]
				     : NULL,
			     err);
		if (rc)
			return rc;
	}
	rows->seconds = rows->read_ns ? (double)(read_ns - rows->read_ns) / 1e9 : tally->seconds;
	rows->read_ns = read_ns;
	rows->sums = now;
	now = before;
	return 0;
}
