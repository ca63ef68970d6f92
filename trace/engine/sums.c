// SPDX-License-Identifier: GPL-3.0-or-later
// sums.c - the tables of a session that adds up calls

#include "trace/engine/sums.h"

#include <stddef.h>

#include "proc/proc.h"
#include "proc/task.h"
#include "trace/engine/clocks.h"
#include "trace/engine/listen_plan.h"
#include "trace/engine/trace_buffers.h"

/* Threads that come later, as trace_buffers.c has them. */
#define THREADS_MORE 4
/*
 * A thread's table stays when it ends, so that its figures remain its own. Where threads come and
 * go all the time their tables would become too many; from here on a new thread goes on with the
 * table of one that has ended.
 */
#define SPARE_BYTES (64ull << 20)
#define SPARE_MAX 64

static uint32_t last_id(const struct trace_session *session)
{
	const struct uspl_trace_region *head = &session->regions.items[session->regions.n - 1].head;

	return head->first_id + head->n_sites - 1;
}

uint64_t sums_table_len(uint64_t cell_len, const struct trace_session *session)
{
	return trace_pages(cell_len * (last_id(session) + 1ull));
}

uint64_t sums_tables_len(const struct listen_plan *plan, const struct trace_session *session)
{
	return plan->cell_len ? sums_table_len(plan->cell_len, session) *
					session->regions.items[0].head.n_rings
			      : 0;
}

static uint64_t spare_tables(uint64_t table_len)
{
	uint64_t n = SPARE_BYTES / table_len;

	return n < SPARE_MAX ? n : SPARE_MAX;
}

uint64_t sums_may_fill(const struct proc *proc, const struct listen_plan *plan,
		       const struct trace_session *session)
{
	uint64_t len = plan->cell_len ? sums_table_len(plan->cell_len, session) : 0;

	return len ? len * (tasks_count(proc) + THREADS_MORE + spare_tables(len)) : 0;
}

int sums_control(const struct proc *proc, const struct listen_plan *plan,
		 const struct trace_session *session, struct uspl_trace_control *control,
		 struct uspl_err *err)
{
	struct uspl_listen_config config;
	int rc;

	if (!plan->cell_len)
		return 0;
	rc = proc_read(proc, control->config, &config, sizeof(config), err);
	if (rc)
		return rc;
	control->sums = control->config + config.own;
	control->sums_len = sums_table_len(plan->cell_len, session);
	control->sums_ids = last_id(session);
	control->sums_spare = tasks_count(proc) + THREADS_MORE + spare_tables(control->sums_len);
	if (control->sums_spare > control->n_rings)
		control->sums_spare = control->n_rings;
	control->sums_ns = (uint64_t)(1e9 * (1 << USPL_SUMS_NS_SHIFT) / (double)clocks_ticks(1));
	return 0;
}

taddr sums_flags(const struct uspl_trace_region *head)
{
	return head->poke_table + head->poke_table_len;
}
