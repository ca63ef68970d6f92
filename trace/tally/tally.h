/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tally.h - tracers of the third sort: what is summed up in the target by listeners, between
 * `start` and `stop`, and printed by `report`
 */
#ifndef USPL_TRACE_TALLY_TALLY_H
#define USPL_TRACE_TALLY_TALLY_H

#include "base/cli.h"
#include "base/json.h"
#include "trace/engine/listen_plan.h"
#include "trace/output/tracer.h"
#include "trace/output/view.h"
#include "trace/tally/places.h"
#include "uspl/listen_abi.h"

/* A process with the sums of its session, for a tracer's report. */
struct tally {
	struct view view;
	struct listen_config config;
	taddr own;        /* where the job's own is */
	size_t n_threads; /* that have something of their own */
	double ns_per_tick, seconds;
	const struct tally_report_options *opts;
	struct places places; /* names of addresses */
};

struct tracer_tally {
	enum uspl_listen_job job;
	uint64_t own_len, thread_len, leaves_len; /* as in struct listen_plan */
	/*
	 * Says of a function whether it is one of the tracer's, and fills in how it is listened to:
	 * role, bare, param.
	 */
	bool (*choose)(void *state, const char *const *names, size_t n,
		       struct uspl_listen_site *site);
	/* Asked when all functions were: a failure ends the start. NULL: nothing to ask. */
	int (*check)(void *state, struct uspl_err *err);
	bool finds_leaks; /* its report can say them */
	/*
	 * Of tracers that add up calls (uspl/sums_abi.h), of functions that the user chooses as for
	 * those that record: bytes of a cell, 0 for all others. choose and check are NULL then.
	 */
	uint64_t cell_len;
	bool entries; /* returns aren't seen */
	bool flag;    /* a flag for each function does, where all threads are meant */
	/* Appends what there is to say, for people or as JSON objects, one to a line. */
	int (*report)(struct tally *tally, bool json, struct buf *out, struct uspl_err *err);
};

/* USPL_E_USAGE or USPL_E_UNSUPPORTED if the tracer's report can't be as it is wanted. */
int tally_check_report(const struct tracer *tracer, const struct tally_report_options *opts,
		       struct uspl_err *err) uspl_must_check;
/* USPL_E_UNSUPPORTED if a session's tracer has sums instead of records. */
int tally_refuse(const struct tracer *tracer, struct uspl_err *err) uspl_must_check;
/* What a user wants of a report. */
struct tally_report_options {
	bool json, leaks;
	/* Of tracers that add up calls. */
	const char *sort; /* NULL: by what the tracer is about */
	bool per_thread, histogram, lcov;
};

/* Prints the report of a process whose session has this tracer, of the third sort. */
int tally_report(const struct tracer *tracer, pid_t pid, const struct tally_report_options *opts,
		 struct uspl_err *err) uspl_must_check;
/*
 * The same of a process that is open already; with its session, which ends. What is read from
 * `view` only; it stays the caller's.
 */
int tally_report_view(const struct tracer *tracer, const struct view *view,
		      const struct tally_report_options *opts,
		      struct uspl_err *err) uspl_must_check;
/*
 * Opens a process whose session has sums. USPL_E_NOT_APPLIED: it has none. Zero-initialise tally;
 * tally_close must follow in any case.
 */
int tally_open(pid_t pid, struct tally *tally, struct uspl_err *err) uspl_must_check;
void tally_close(struct tally *tally);
DEFINE_AUTO_RELEASE(tally, struct tally, tally_close)
#define auto_tally __attribute__((cleanup(cleanup_tally_)))
/* Ticks as nanoseconds. */
double tally_ns(const struct tally *tally, uint64_t ticks);
/* Ticks as microseconds. */
double tally_us(const struct tally *tally, uint64_t ticks);
/* Ends a line of JSON: appends it to out, and empties it for the next. */
void tally_take_json(struct json *json, struct buf *out);
/* Reads what the job has of its own for one thread. */
int tally_read_thread(const struct tally *tally, size_t i, void *ret, size_t len,
		      struct uspl_err *err) uspl_must_check;

/* What a user has chosen for a tracer of the third sort. Zero-initialise it. */
struct tally_options {
	cli_strings triggers;
	bool begins; /* not an option: as in struct proc */
	bool silent; /* not an option: nothing is said of the start */
};

/* Appends these options to a command's table. */
int tally_add_options(struct tally_options *opts, cli_option_vec *table,
		      struct uspl_err *err) uspl_must_check;
void tally_options_release(struct tally_options *opts);
/*
 * Starts the tracer in a process, and says so. state: of the tracer's size, with its options in
 * place.
 */
int tally_start(const struct tracer *tracer, void *state, struct tally_options *opts, pid_t pid,
		struct uspl_err *err) uspl_must_check;

#endif
