/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_sums.h - what the threads of a process have added up of its functions' calls */
#ifndef USPL_TRACE_TALLY_CALL_SUMS_H
#define USPL_TRACE_TALLY_CALL_SUMS_H

#include "trace/tally/tally.h"
#include "uspl/sums_abi.h"

/* Of one function, in one thread or in all. Times are in ticks. */
struct call_sum {
	uint32_t id;
	uint32_t thread; /* its place among the threads */
	uint64_t calls;  /* that are over; of profile with those that were left */
	struct uspl_sums_cell cell;
	/* Of calls that are open: how many, their times so far, and those without recursion. */
	uint64_t open, open_sum, open_total;
};

/* A thread that has a table. */
struct call_thread {
	pid_t tid;        /* as the target knows it */
	uint64_t earlier; /* threads that had the table before, and have ended */
};

/* A call that is open. */
struct open_call {
	uint32_t id;
	taddr back;    /* where it will return to */
	uint64_t took; /* so far, in ticks */
	bool left;     /* no more: nobody will return from it */
};

struct call_sums {
	VEC(struct call_sum) rows; /* by thread, then by id */
	VEC(struct call_thread) threads;
	uint64_t lost;     /* calls that are in no table */
	uint64_t left_out; /* bytes of tables that were not read: there are too many */
};

/* Reads the tables of a session that has some. call_sums_release must follow in any case. */
int call_sums_read(const struct tally *tally, struct call_sums *ret,
		   struct uspl_err *err) uspl_must_check;
void call_sums_release(struct call_sums *sums);
DEFINE_AUTO_RELEASE(call_sums, struct call_sums, call_sums_release)
#define auto_call_sums __attribute__((cleanup(cleanup_call_sums_)))
/*
 * Shows each thread's calls that are open at this moment, the innermost first. sums: of an earlier
 * reading, with its threads. A failure of `see` ends it.
 */
typedef int call_sums_see(void *ctx, const struct open_call *calls, size_t n, struct uspl_err *err);
int call_sums_look(const struct tally *tally, const struct call_sums *sums, call_sums_see *see,
		   void *ctx, struct uspl_err *err) uspl_must_check;
/* Makes one row of all threads' rows of a function; `thread` means nothing afterwards. */
void call_sums_merge(struct call_sums *sums);
/* With what is open; without what calls of others took. */
uint64_t call_sums_total(const struct call_sum *sum);
uint64_t call_sums_self(const struct call_sum *sum);
/* Of one call that is over; 0 if the time of none is known. */
double call_sums_average(const struct call_sum *sum);
/*
 * Adds up one more call that is over, which took so long: what the target does. Of calls of
 * profile that the tool finds left.
 */
void call_sums_add_left(struct call_sum *sum, uint64_t took, double ns_per_tick);

#endif
