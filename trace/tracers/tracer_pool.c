// SPDX-License-Identifier: GPL-3.0-or-later
// tracer_pool.c - what a pool of threads does: items queued, run, and how long they waited for a
// worker

#include <stdlib.h>
#include <string.h>

#include "thread/thread.h"
#include "trace/output/tracer.h"
#include "trace/tally/glob.h"
#include "trace/tally/tally.h"
#include "trace/tracers/tracers.h"
#include "uspl/listen_abi.h"
#include "uspl/trace_abi.h"

#define ITEM_ARG_MAX 6

struct state {
	const char *enqueue, *run; /* the options: "GLOB" or "GLOB@argN" */
	bool seen_enqueue, seen_run;
};

/*
 * "GLOB@arg2": takes off which argument is the item; 0: none is. False if that can't be understood.
 */
static bool split(const char *text, char *glob, size_t len, uint32_t *ret_arg)
{
	const char *at = strrchr(text, '@');
	int n = snprintf(glob, len, "%.*s", at ? (int)(at - text) : (int)strlen(text), text);

	*ret_arg = 0;
	if (n <= 0 || (size_t)n >= len)
		return false;
	if (!at)
		return true;
	if (strncmp(at + 1, "arg", 3) != 0 || at[4] < '1' || at[4] > '0' + ITEM_ARG_MAX || at[5])
		return false;
	*ret_arg = (uint32_t)(at[4] - '0');
	return true;
}

static bool matches(const char *text, const char *const *names, size_t n, uint32_t *ret_arg)
{
	char glob[256];

	return text && split(text, glob, sizeof(glob), ret_arg) && glob_matches_any(glob, names, n);
}

static bool choose(void *ctx, const char *const *names, size_t n, struct uspl_listen_site *site)
{
	struct state *state = ctx;

	if (matches(state->enqueue, names, n, &site->param)) {
		state->seen_enqueue = true;
		site->role = USPL_POOL_ENQUEUE;
		site->bare = 1;
		return true;
	}
	if (!matches(state->run, names, n, &site->param))
		return false;
	state->seen_run = true;
	site->role = USPL_POOL_RUN;
	return true;
}

static int check(void *ctx, struct uspl_err *err)
{
	const struct state *state = ctx;
	char glob[256];
	uint32_t enqueue_arg, run_arg;

	if (!state->enqueue || !state->run)
		return uspl_fail(err, USPL_E_USAGE,
				 "'--enqueue=FUNCTION' and '--run=FUNCTION' are needed");
	if (!split(state->enqueue, glob, sizeof(glob), &enqueue_arg) ||
	    !split(state->run, glob, sizeof(glob), &run_arg) || !enqueue_arg != !run_arg) {
		uspl_fail(err, USPL_E_USAGE, "'%s' and '%s' can't be understood", state->enqueue,
			  state->run);
		uspl_hint(err, "'FUNCTION', or for both 'FUNCTION@argN' to tell items apart");
		return -USPL_E_USAGE;
	}
	if (!state->seen_enqueue || !state->seen_run)
		return uspl_fail(err, USPL_E_NO_MODULE, "no function '%s' can be traced",
				 state->seen_enqueue ? state->run : state->enqueue);
	return 0;
}

/* A thread that has queued or run items. */
struct worker {
	char label[80];
	struct uspl_pool_thread own;
};

/* A mean, of those whose queueing was seen. */
static double late_us(const struct tally *tally, const struct uspl_pool_thread *own)
{
	return own->timed ? tally_us(tally, own->late) / (double)own->timed : 0;
}

static void add_worker(const struct tally *tally, const struct worker *worker, struct buf *out)
{
	const struct uspl_pool_thread *own = &worker->own;

	buf_addf(out, "%24s %9llu %9llu %13.3f %13.3f %13.3f %13.3f\n", worker->label,
		 (unsigned long long)own->queued, (unsigned long long)own->run,
		 tally_us(tally, own->ran), tally_us(tally, own->ran_max), late_us(tally, own),
		 tally_us(tally, own->late_max));
}

static void json_add_worker(const struct tally *tally, const struct worker *worker, struct buf *out)
{
	const struct uspl_pool_thread *own = &worker->own;
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_string(&json, "thread", worker->label);
	json_number(&json, "queued", (int64_t)own->queued);
	json_number(&json, "run", (int64_t)own->run);
	json_ns(&json, "run_ns", tally_ns(tally, own->ran));
	json_ns(&json, "longest_ns", tally_ns(tally, own->ran_max));
	json_ns(&json, "latency_ns", late_us(tally, own) * 1e3);
	json_ns(&json, "longest_latency_ns", tally_ns(tally, own->late_max));
	json_close(&json, '}');
	tally_take_json(&json, out);
}

/* *ret_any is false for a thread that has to do with no items. */
static int read_worker(const struct tally *tally, size_t i, struct worker *ret, bool *ret_any,
		       struct uspl_err *err)
{
	const struct uspl_trace_region *head = &tally->view.session.regions.items[0].head;
	struct uspl_trace_ring ring;
	char name[TASK_NAME_LEN];
	int rc = tally_read_thread(tally, i, &ret->own, sizeof(ret->own), err);

	if (rc)
		return rc;
	rc = proc_read(tally->view.proc, head->rings + i * head->ring_bytes, &ring, sizeof(ring),
		       err);
	if (rc)
		return rc;
	task_name(tally->view.proc, (pid_t)ring.tid, name);
	snprintf(ret->label, sizeof(ret->label), "%s-%d", name, (int)ring.tid);
	*ret_any = ret->own.queued || ret->own.run;
	return 0;
}

/* Items that no thread has begun yet. */
static uint64_t waiting(const struct uspl_pool *own)
{
	return own->queued > own->begun ? own->queued - own->begun : 0;
}

static void add_head(const struct uspl_pool *own, struct buf *out)
{
	buf_addf(out, "# items: %llu queued, %llu begun, %llu done; %llu waiting, at most %llu\n",
		 (unsigned long long)own->queued, (unsigned long long)own->begun,
		 (unsigned long long)own->done, (unsigned long long)waiting(own),
		 (unsigned long long)own->waiting_max);
	if (own->unmatched)
		buf_addf(out, "# %llu items were run that weren't seen queued\n",
			 (unsigned long long)own->unmatched);
	buf_addf(out, "%24s %9s %9s %13s %13s %13s %13s\n", "THREAD", "QUEUED", "RUN", "RUN us",
		 "LONGEST us", "LATENCY us", "LONGEST us");
}

static void json_add_head(const struct uspl_pool *own, struct buf *out)
{
	auto_json struct json json = { 0 };

	json_open(&json, NULL, '{');
	json_number(&json, "queued", (int64_t)own->queued);
	json_number(&json, "begun", (int64_t)own->begun);
	json_number(&json, "done", (int64_t)own->done);
	json_number(&json, "waiting", (int64_t)waiting(own));
	json_number(&json, "waiting_max", (int64_t)own->waiting_max);
	json_number(&json, "unmatched", (int64_t)own->unmatched);
	json_close(&json, '}');
	tally_take_json(&json, out);
}

static int report(struct tally *tally, bool json, struct buf *out, struct uspl_err *err)
{
	struct uspl_pool own;
	int rc = proc_read(tally->view.proc, tally->own, &own, offsetof(struct uspl_pool, items),
			   err);

	if (rc)
		return rc;
	(json ? json_add_head : add_head)(&own, out);
	for (size_t i = 0; i < tally->n_threads; i++) {
		struct worker worker;
		bool any = false;

		rc = read_worker(tally, i, &worker, &any, err);
		if (rc)
			return rc;
		if (any)
			(json ? json_add_worker : add_worker)(tally, &worker, out);
	}
	return 0;
}

static const struct tracer_option options[] = {
	{ "enqueue", "FUNCTION[@argN]", CLI_STRING, offsetof(struct state, enqueue),
	  "what queues an item" },
	{ "run", "FUNCTION[@argN]", CLI_STRING, offsetof(struct state, run),
	  "what runs an item; @argN: which argument of both is the item" },
};

static const struct tracer_tally tally = {
	.job = USPL_LISTEN_POOL,
	.own_len = sizeof(struct uspl_pool),
	.thread_len = sizeof(struct uspl_pool_thread),
	.choose = choose,
	.check = check,
	.report = report,
};

const struct tracer tracer_pool = {
	.name = "pool",
	.help = "items that threads of a pool queue and run, and how long they wait",
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.state_size = sizeof(struct state),
	.tally = &tally,
};
