/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sums.h - the tables of a session that adds up calls (include/uspl/sums_abi.h) */
#ifndef USPL_TRACE_ENGINE_SUMS_H
#define USPL_TRACE_ENGINE_SUMS_H

#include "record/trace_records.h"
#include "uspl/sums_abi.h"

struct listen_plan;
struct proc;
struct uspl_err;

/* Bytes of one thread's table, whole pages, for the functions of the session. */
uint64_t sums_table_len(uint64_t cell_len, const struct trace_session *session);
/* Bytes of all threads' tables; 0 if the plan has none. The session's parts are loaded. */
uint64_t sums_tables_len(const struct listen_plan *plan, const struct trace_session *session);
/* Bytes of them that the process may come to fill: of threads that it has, and some more. */
uint64_t sums_may_fill(const struct proc *proc, const struct listen_plan *plan,
		       const struct trace_session *session);
/*
 * Says in a control page where the tables are; the listener config is mapped. Nothing if the plan
 * has no tables.
 */
int sums_control(const struct proc *proc, const struct listen_plan *plan,
		 const struct trace_session *session, struct uspl_trace_control *control,
		 struct uspl_err *err) uspl_must_check;
/* Where the flags of a part's functions are, by their place in it. */
taddr sums_flags(const struct uspl_trace_region *head);

#endif
