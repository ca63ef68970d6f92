// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_sigoff.c - for how long threads block signals

#include <string.h>

#include "trace/output/tracer.h"
#include "trace/tally/glob.h"
#include "trace/tally/lock_report.h"
#include "trace/tracers/tracers.h"
#include "uspl/listen_abi.h"

#define SHOWN 20
#define N_SIGNALS 64

static const char *const functions[] = { "pthread_sigmask", "sigprocmask", "rt_sigprocmask",
					 "sighold", "sigrelse" };

static bool choose(void *state, const char *const *names, size_t n, struct uspl_listen_site *site)
{
	(void)state;
	site->role = USPL_LOCK_SIGNALS;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(functions); k++)
			if (glob_is_function(names[i], functions[k]))
				return true;
	return false;
}

/* "INT TERM", or "all" but for the two that are the C library's. */
static void add_signals(uint64_t mask, struct buf *out)
{
	const char *between = "";

	if (__builtin_popcountll(mask) > N_SIGNALS / 2) {
		buf_addstr(out, __builtin_popcountll(mask) >= N_SIGNALS - 4 ? "all" : "most");
		return;
	}
	for (int sig = 1; sig <= N_SIGNALS; sig++) {
		const char *name = sigabbrev_np(sig);

		if (!(mask >> (sig - 1) & 1))
			continue;
		if (name)
			buf_addf(out, "%s%s", between, name);
		else
			buf_addf(out, "%s%d", between, sig);
		between = " ";
	}
}

static int json_add_span(struct tally *tally, const struct uspl_lock *lock, struct json *json,
			 struct uspl_err *err)
{
	auto_buf struct buf signals = { 0 };
	int rc;

	add_signals(lock->signals, &signals);
	json_open(json, NULL, '{');
	json_string(json, "name", buf_str(&signals));
	json_number(json, "spans", (int64_t)lock->taken);
	json_ns(json, "total_ns", tally_ns(tally, lock->held));
	json_ns(json, "longest_ns", tally_ns(tally, lock->hold_max));
	rc = lock_json_longest(tally, lock, json, err);
	json_close(json, '}');
	return rc;
}

static int add_text(struct tally *tally, const struct lock_table *table, struct buf *out,
		    struct uspl_err *err)
{
	int rc = 0;

	buf_addf(out, "%10s %13s %13s  %s\n", "SPANS", "TOTAL us", "LONGEST us", "SIGNALS");
	for (size_t i = 0; i < table->n && i < SHOWN; i++) {
		const struct uspl_lock *lock = &table->items[i];

		buf_addf(out, "%10llu %13.3f %13.3f  ", (unsigned long long)lock->taken,
			 tally_us(tally, lock->held), tally_us(tally, lock->hold_max));
		add_signals(lock->signals, out);
		buf_addstr(out, "\n");
		rc = lock_add_longest(tally, lock, "blocked", out, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int report(struct tally *tally, bool json, struct buf *out, struct uspl_err *err)
{
	static const struct lock_form form = { .text = add_text, .json = json_add_span };

	return lock_report(tally, &form, json, out, err);
}

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_SIGOFF,
	.own_len = USPL_LOCKS * sizeof(struct uspl_lock),
	.thread_len = sizeof(struct uspl_lock_thread),
	.choose = choose,
	.report = report,
};

const struct tracer tracer_sigoff = {
	.name = "sigoff",
	.help = "for how long threads block signals, and where",
	.tally = &tally,
};
