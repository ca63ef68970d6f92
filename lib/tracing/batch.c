// SPDX-License-Identifier: GPL-3.0-or-later
// batch.c - the sites of one region are exchanged, as many at a time as nobody has to wait long for
/*
 * Sites need not change together: what has to hold is that no thread is between two of the instructions that become one jump. So there are
 * two kinds of words:
 *
 *     quiet   one instruction becomes another one, or several, and all of it lies in the word: exchanged while everybody runs
 *     still   the others: in a stop, with nobody behind the first of the instructions
 *
 * In a stop those that sleep are stopped first and let go last; those that run stand still for the exchange alone, and for no more
 * than STILL_MAX words of it.
 */

#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "base/cancel.h"
#include "base/log.h"
#include "live/slot.h"
#include "live/words.h"
#include "proc/asleep.h"
#include "proc/stop.h"
#include "tracing/internal.h"

#define STOP_LIMIT_NS 1000000000ll
#define TRY_NS 3000000000ll
#define PAUSE_NS 2000000
/* Words in one run of the agent: with its thread asleep, or running. */
#define ASLEEP_MAX 131072
#define QUIET_MAX 8192
/* And while everybody stands still. */
#define STILL_MAX 8192
#define CODE_CHUNK 65536

/* The sites of a region while they are exchanged. */
struct batch {
	const struct batch_input *in;
	const struct trace_region *region;
	struct batch_result *result;
	struct site_plan plan;
	struct words quiet, still;
	struct safety bytes; /* that no thread may stand in */
	struct safety_finding finding;
	/* A copy of the code around the site that was looked at last. */
	taddr chunk;
	size_t chunk_len;
	uint8_t code[CODE_CHUNK];
};

/* What stands at an entry; entries are asked for in order. False if nothing is mapped there. */
static bool read_entry(struct batch *batch, taddr entry, uint8_t *ret)
{
	if (entry < batch->chunk ||
	    entry + USPL_TRACE_SITE_BYTES > batch->chunk + batch->chunk_len) {
		batch->chunk = entry;
		batch->chunk_len =
			proc_read_some(batch->in->proc, entry, batch->code, sizeof(batch->code));
		if (batch->chunk_len < USPL_TRACE_SITE_BYTES)
			return false;
	}
	memcpy(ret, batch->code + (entry - batch->chunk), USPL_TRACE_SITE_BYTES);
	return true;
}

/* What the entry holds without the tracer. */
static int read_under(const struct batch *batch, const struct uspl_trace_site *site, uint8_t *ret,
		      struct uspl_err *err)
{
	if (addrs_hold(batch->in->updated, site->entry))
		return slot_entry_bytes(batch->in->proc, site, ret, err);
	memcpy(ret, site->old_bytes, USPL_TRACE_SITE_BYTES);
	return 0;
}

/*
 * True if a site to be taken out doesn't hold our jump: it has its own bytes, since a tool has died
 * or the library was loaded anew, or an update's jump.
 */
static bool is_out(const struct uspl_trace_site *site, const uint8_t *have, taddr thunk)
{
	taddr target = arch_native()->jump_target(site->entry, have, USPL_TRACE_SITE_BYTES);

	return !memcmp(have, site->old_bytes, USPL_TRACE_SITE_BYTES) || (target && target != thunk);
}

static int add_site(struct batch *batch, size_t i, struct uspl_err *err)
{
	const struct uspl_trace_site *from = &batch->region->sites.items[i];
	taddr thunk = batch->region->head.thunks + i * USPL_TRACE_THUNK;
	struct site site = { .name = batch->region->module_name,
			     .addr = from->entry,
			     .len = USPL_TRACE_SITE_BYTES };
	uint8_t have[USPL_TRACE_SITE_BYTES], jump[SITE_BYTES_MAX];
	bool on = batch->in->on;
	int rc;

	if (!read_entry(batch, from->entry, have))
		return uspl_fail(err, USPL_E_OVERWRITTEN, "'%s' isn't mapped any more", site.name);
	if (!on && is_out(from, have, thunk))
		return 0;
	part_site_jump(batch->region, i, jump);
	rc = read_under(batch, from, on ? site.from : site.to, err);
	memcpy(on ? site.to : site.from, jump, site.len);
	site.guard = on ? from->guard : 0;
	return rc ? rc : site_plan_add(&batch->plan, &site, err);
}

static int make_plan(struct batch *batch, struct uspl_err *err)
{
	taddr table = batch->region->head.words;
	int rc = 0;

	batch->plan.proc = batch->quiet.proc = batch->still.proc = batch->in->proc;
	for (size_t i = 0; !rc && i < batch->region->sites.n; i++)
		rc = add_site(batch, i, err);
	if (!rc)
		rc = site_plan_check(&batch->plan, err);
	if (!rc)
		rc = words_take(&batch->quiet, &batch->still, &batch->plan, err);
	batch->quiet.table = table;
	batch->still.table = table + batch->quiet.items.n * sizeof(struct inject_word);
	if (!rc)
		rc = words_write(&batch->quiet, err);
	return rc ? rc : words_write(&batch->still, err);
}

/* The pages of code become the process's own now, and not when somebody waits for it. */
static int make_private(struct batch *batch, struct uspl_err *err)
{
	int64_t start = clock_now_ns();
	int rc = site_plan_prepare(&batch->plan, err);

	log_info("stop", "%zu sites, %zu words for a stop: prepared in %.0f us",
		 batch->plan.sites.n, batch->still.items.n,
		 (double)(clock_now_ns() - start) / 1000);
	return rc;
}

/* True if a thread sleeps: it is the one that is chosen, and misses nothing. */
static bool has_sleeper(struct asleep *asleep)
{
	const struct asleep_thread *thread;

	if (!asleep || asleep_look(asleep, NULL) != 0)
		return false;
	vec_for_each (&asleep->threads, thread)
		if (thread->class == ASLEEP_SLEEPS)
			return true;
	return false;
}

static int exchange_quiet(struct batch *batch, struct uspl_err *err)
{
	const struct words_maker anyone = { NULL, NULL };
	const struct words *words = &batch->quiet;
	size_t most = has_sleeper(batch->in->asleep) ? ASLEEP_MAX : QUIET_MAX;
	int rc = 0;

	for (size_t at = 0, n; !rc && at < words->items.n; at += n) {
		n = words->items.n - at < most ? words->items.n - at : most;
		rc = words_exchange(words, at, n, &anyone, err);
	}
	return rc;
}

/* Words from `first` on that are exchanged in one stop: a site that lies in two isn't cut. */
static size_t still_len(const struct words *words, size_t first)
{
	size_t end = words->items.n - first < STILL_MAX ? words->items.n : first + STILL_MAX;

	while (end < words->items.n &&
	       words->items.items[end].addr == words->items.items[end - 1].addr + WORD_LEN)
		end++;
	return end - first;
}

/* Where in the sites from start to end no thread may stand. */
static int guard_sites(struct batch *batch, taddr start, taddr end, struct uspl_err *err)
{
	const struct site *site;
	int rc = 0;

	safety_release(&batch->bytes);
	batch->bytes = (struct safety){ .proc = batch->in->proc, .unwinder = batch->in->unwinder };
	vec_for_each (&batch->plan.sites, site)
		if (!rc && site->guard > 1 && site->addr + site->len > start && site->addr < end)
			rc = safety_add(&batch->bytes, site->name, site->addr + 1, site->guard - 1u,
					false, err);
	safety_seal(&batch->bytes);
	return rc;
}

static int list_sleepers(struct asleep *asleep, tid_vec *ret, struct uspl_err *err)
{
	const struct asleep_thread *thread;
	int rc = asleep_look(asleep, err);

	vec_for_each (&asleep->threads, thread) {
		pid_t *item = rc || thread->class != ASLEEP_SLEEPS ? NULL : vec_push(ret);

		if (item)
			*item = thread->tid;
		else if (!rc && thread->class == ASLEEP_SLEEPS)
			rc = uspl_fail_nomem(err);
	}
	return rc;
}

static bool is_clear(struct batch *batch, const struct stop *stop)
{
	const struct thread *thread;

	vec_for_each (&stop->threads, thread)
		if (thread->state == THREAD_STOPPED &&
		    !safety_check(&batch->bytes, thread, &batch->finding))
			return false;
	return true;
}

/* Words of `still` that are exchanged together; without an agent, all sites, written by us. */
struct portion {
	size_t first, n;
	struct inject_agent *agent;
};

static int write_stopped(struct batch *batch, struct stop *stop, const struct portion *portion,
			 bool *ret_done, struct uspl_err *err)
{
	struct words_maker maker = { portion->agent, stop_host(stop) };

	*ret_done = is_clear(batch, stop) && (!portion->agent || maker.thread);
	if (!*ret_done)
		return 0;
	return portion->agent
		       ? words_exchange(&batch->still, portion->first, portion->n, &maker, err)
		       : site_plan_switch(&batch->plan, err);
}

static int attempt(struct batch *batch, const struct portion *portion, bool *ret_done,
		   struct uspl_err *err)
{
	tid_vec sleepers = { 0 };
	struct stop stop;
	int64_t deadline;
	double stop_us;
	int rc = batch->in->asleep ? list_sleepers(batch->in->asleep, &sleepers, err) : 0;

	if (rc)
		return rc;
	rc = stop_prepare(&stop, batch->in->proc, err);
	if (rc) {
		vec_release(&sleepers);
		return rc;
	}
	deadline = clock_now_ns() + STOP_LIMIT_NS;
	rc = stop_first(&stop, &sleepers, deadline, err);
	if (!rc)
		rc = stop_enter(&stop, deadline, err);
	if (!rc)
		rc = write_stopped(batch, &stop, portion, ret_done, err);
	stop_leave(&stop);
	vec_release(&sleepers);
	stop_us = (double)(stop.left_ns - stop.entered_ns) / 1000;
	if (stop_us > batch->result->stop_us)
		batch->result->stop_us = stop_us;
	log_info("stop", "%zu words, %zu threads: %.0f us", portion->n, stop.n_threads, stop_us);
	return rc;
}

static int fail_busy(const struct batch *batch, struct uspl_err *err)
{
	const struct safety_finding *finding = &batch->finding;

	return uspl_fail(err, USPL_E_BUSY,
			 "thread %d of pid %d stays within the first bytes of a function of '%s'",
			 finding->tid, batch->in->proc->pid,
			 finding->function ? finding->function : batch->region->module_name);
}

static int exchange_portion(struct batch *batch, const struct portion *portion,
			    struct uspl_err *err)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t deadline = clock_now_ns() + TRY_NS;

	for (;;) {
		bool done = false;
		int rc = attempt(batch, portion, &done, err);

		if (rc || done)
			return rc;
		if (cancel_requested())
			return uspl_fail(err, USPL_E_CANCELLED, "interrupted");
		if (clock_now_ns() >= deadline)
			return fail_busy(batch, err);
		nanosleep(&pause, NULL);
	}
}

static int exchange_still(struct batch *batch, struct uspl_err *err)
{
	const struct words *words = &batch->still;
	struct portion portion = { 0 };
	int rc = words->items.n ? inject_agent_new(batch->in->proc, &portion.agent, err) : 0;

	for (; !rc && portion.first < words->items.n; portion.first += portion.n) {
		const struct inject_word *last;

		portion.n = still_len(words, portion.first);
		last = &words->items.items[portion.first + portion.n - 1];
		rc = guard_sites(batch, words->items.items[portion.first].addr,
				 last->addr + WORD_LEN, err);
		if (!rc)
			rc = exchange_portion(batch, &portion, err);
	}
	inject_agent_free(portion.agent);
	return rc;
}

/* Where the program's threads may not write code (PR_SET_MDWE): we may, but not in one piece. */
static int write_all(struct batch *batch, struct uspl_err *err)
{
	const struct portion all = { 0 };
	int rc = guard_sites(batch, 0, UINT64_MAX, err);

	return rc ? rc : exchange_portion(batch, &all, err);
}

static int exchange(struct batch *batch, struct uspl_err *err)
{
	struct uspl_err why = { 0 };
	int rc = exchange_quiet(batch, &why);

	if (!rc)
		rc = exchange_still(batch, &why);
	if (rc == -USPL_E_UNSUPPORTED) {
		log_info("stop", "all sites are written in one stop: %s", why.msg);
		return write_all(batch, err);
	}
	if (rc && err)
		*err = why;
	return rc;
}

int batch_exchange(const struct batch_input *in, const struct trace_region *region,
		   struct batch_result *result, struct uspl_err *err)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	int64_t start;
	int rc;

	if (!batch)
		return uspl_fail_nomem(err);
	batch->in = in;
	batch->region = region;
	batch->result = result;
	rc = make_plan(batch, err);
	if (!rc)
		rc = make_private(batch, err);
	start = clock_now_ns();
	if (!rc && batch->plan.sites.n)
		rc = exchange(batch, err);
	result->switch_us += (double)(clock_now_ns() - start) / 1000;
	if (!rc)
		result->sites += batch->plan.sites.n;
	site_plan_release(&batch->plan);
	words_release(&batch->quiet);
	words_release(&batch->still);
	safety_release(&batch->bytes);
	free(batch);
	return rc;
}
