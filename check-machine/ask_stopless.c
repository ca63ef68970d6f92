// SPDX-License-Identifier: GPL-3.0-or-later
// ask_stopless.c - whether threads can be left alone in a switch (docs/transition.md)

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "check-machine/ask.h"
#include "proc/task.h"
#include "text/text_poke.h"
#include "thread/blocked.h"
#include "thread/sampler.h"
#include "thread/hw_breakpoint.h"

/* For how long a thread has to run without being noted. */
#define SAMPLE_NS 500000000ll
/* For how long it has to sleep without being seen asleep. */
#define SLEEP_NS 500000000ll
#define PAUSE_NS 100000

/*
 * Waits until a note comes. Where processors are scarce the thread may not run for seconds: what
 * counts is the time for which it did.
 */
static bool await_note(const struct ask *ask, struct sampler *sampler)
{
	int64_t ran_ns = task_run_ns(ask->proc, sampler->tid);
	int64_t deadline = clock_now_ns() + TRIAL_PATIENCE_NS;
	static struct thread_sample seen;

	do {
		if (sampler_await(sampler, clock_now_ns() + SAMPLE_NS, &seen))
			return true;
	} while (clock_now_ns() < deadline && ran_ns >= 0 &&
		 task_run_ns(ask->proc, sampler->tid) < ran_ns + SAMPLE_NS / 2);
	return false;
}

/* A clock's interrupt shows where the second thread runs. */
static bool try_sample(struct ask *ask, struct uspl_err *err)
{
	struct sampler sampler;
	bool noted;

	if (!sampler_open(&sampler, ask->plain.page->tid)) {
		uspl_fail_errno(err, "cannot open a perf event for a thread");
		return false;
	}
	noted = trial_do(&ask->plain, TRIAL_RUN, err) == 0 && await_note(ask, &sampler);
	if (!noted && !err->code)
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the kernel notes nothing of a thread that runs");
	sampler_close(&sampler);
	return trial_do(&ask->plain, TRIAL_SLEEP, err) == 0 && noted;
}

/* As at an entry: the eight bytes that are there are stored once more, by a thread of the trial. */
static bool try_exchange(struct ask *ask, struct uspl_err *err)
{
	struct text_poke poke = { .proc = ask->proc };
	struct inject_word *word = vec_push(&poke.items);
	bool done = false;

	if (!word)
		return uspl_fail_nomem(err) == 0;
	word->addr = (taddr)(uintptr_t)trial_pass & ~7ull;
	done = proc_read(ask->proc, word->addr, &word->from, sizeof(word->from), err) == 0;
	word->to = word->from;
	done = done && text_poke_exchange(&poke, 0, 1, err) == 0;
	text_poke_release(&poke);
	return done;
}

static bool try_blocked(struct ask *ask, struct uspl_err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int64_t now_ns = clock_now_ns(), limit = now_ns + TRIAL_PATIENCE_NS;
	int64_t deadline = now_ns + SLEEP_NS;
	const struct blocked_thread *thread;
	struct blocked blocked;
	bool sleeps = false;

	if (blocked_open(&blocked, ask->proc, err) != 0)
		return false;
	/* The thread was told to sleep, and does so when its processor comes to it. */
	while (!sleeps && blocked_look(&blocked, err) == 0) {
		vec_for_each (&blocked.threads, thread)
			sleeps |= thread->tid == ask->plain.pid && thread->class == BLOCKED_SLEEPS;
		now_ns = clock_now_ns();
		if (!task_sleeps(ask->proc, ask->plain.pid))
			deadline = now_ns + SLEEP_NS;
		if (now_ns >= deadline || now_ns >= limit)
			break;
		nanosleep(&pause, NULL);
	}
	if (!sleeps && !err->code)
		uspl_fail(err, USPL_E_UNSUPPORTED, "the kernel doesn't tell where a thread sleeps");
	blocked_release(&blocked);
	return sleeps;
}

/* The second thread calls trial_pass once to tell its stack pointer, and once to be seen. */
static bool try_breakpoint(struct ask *ask, struct uspl_err *err)
{
	const struct trial_page *page = ask->plain.page;
	int64_t since = clock_now_ns();
	struct hw_breakpoint breakpoint;
	bool seen = false;

	if (trial_do(&ask->plain, TRIAL_PASS, err) != 0 ||
	    trial_do(&ask->plain, TRIAL_SLEEP, err) != 0 ||
	    hw_breakpoint_open(&breakpoint, page->tid, (taddr)(uintptr_t)trial_pass, page->sp,
			       err) != 0)
		return false;
	if (trial_do(&ask->plain, TRIAL_PASS, err) == 0) {
		seen = hw_breakpoint_passed(&breakpoint, since);
		if (!seen)
			uspl_fail(err, USPL_E_UNSUPPORTED, "a hardware breakpoint notes nothing");
	}
	hw_breakpoint_close(&breakpoint);
	return trial_do(&ask->plain, TRIAL_SLEEP, err) == 0 && seen;
}

/* The open of a single perf event gives no hint; that of many does (perf.c). */
static void hint_perf(struct uspl_err *why)
{
	char paranoid[16];

	ask_read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	if (why->code == USPL_E_PERMISSION && !why->hint[0])
		uspl_hint(why,
			  "CAP_PERFMON (Linux 5.8), or a lower kernel.perf_event_paranoid: it is "
			  "%s",
			  paranoid[0] ? paranoid : "not known");
}

void ask_stopless(struct ask *ask)
{
	struct uspl_err why = { 0 }, no_sample = { 0 }, no_breakpoint = { 0 };
	bool noted;

	if (!ask->proc)
		return;
	noted = try_sample(ask, &no_sample);
	if (!try_blocked(ask, &why) || !try_exchange(ask, &why))
		answers_add_err(&ask->answers, "quiet-way", VERDICT_NO,
				"all threads of a process are stopped for a switch", &why);
	else if (!noted)
		answers_add(&ask->answers, "quiet-way", VERDICT_LIMITED,
			    "threads that sleep are left alone; those that run are stopped for a "
			    "switch (clock-samples)");
	else
		answers_add(&ask->answers, "quiet-way", VERDICT_OK,
			    "no thread is stopped for a switch");
	hint_perf(&no_sample);
	if (noted)
		answers_add(&ask->answers, "clock-samples", VERDICT_OK,
			    "where a thread runs is noted in a clock's interrupt");
	else
		answers_add_err(&ask->answers, "clock-samples", VERDICT_LIMITED,
				"a thread that runs can't be looked at without a stop", &no_sample);
	if (try_breakpoint(ask, &no_breakpoint)) {
		answers_add(&ask->answers, "breakpoints", VERDICT_OK,
			    "the moment in which a busy function returns is seen");
		return;
	}
	hint_perf(&no_breakpoint);
	answers_add_err(&ask->answers, "breakpoints", VERDICT_LIMITED,
			"whether a busy function has returned is guessed, and tried now and then",
			&no_breakpoint);
}
