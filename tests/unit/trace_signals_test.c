// SPDX-License-Identifier: GPL-3.0-or-later
// trace_signals_test.c - the tracer's hot path, run in this very process: signals at the worst
// moments, and what can't be recorded

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "trace_run.h"

static volatile sig_atomic_t handled;
static uint32_t storm_id;

static void on_signal(int sig)
{
	(void)sig;
	fib(3);
	handled++;
}

static void storm_begin(struct sigaction *old)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct itimerval every = { { 0, 20 }, { 0, 20 } };

	handled = 0;
	sigaction(SIGALRM, &act, old);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void storm_end(const struct sigaction *old)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, old, NULL);
}

/*
 * Signals in the middle of everything: records of the handler and of what it interrupts are all
 * there.
 */
static void test_signals(void)
{
	struct sigaction old;
	uint64_t from, calls = 0, before, seen, stalls = 0, last, now;

	storm_id = trace(fib, false);
	/* Now there is a ring. */
	fib(1);
	from = position();
	before = my_ring()->unseen;
	storm_begin(&old);
	last = arch_native()->ticks();
	for (int i = 0; i < 200000; i++, calls += 15, last = now) {
		fib(5);
		now = arch_native()->ticks();
		stalls += now - last > UINT32_MAX;
	}
	storm_end(&old);
	seen = (position() - from) / USPL_TRACE_RECORD + my_ring()->unseen - before;
	ok(handled > 100, "%d signals were handled", (int)handled);
	calls += 5 * (uint64_t)handled;
	/* A call that goes on while the machine stands still for seconds has two records. */
	ok(seen >= calls && seen - calls <= 8 * stalls, "no record is lost by signals (%llu, %llu)",
	   (unsigned long long)seen, (unsigned long long)calls);
	untrace(storm_id);
}

/* Signals while a thread takes its entry and its ring: the handler's calls find a ring, too. */
static void test_signals_at_first(void)
{
	uint64_t nowhere = tracer.counters->nowhere, rings = tracer.counters->next_ring;
	struct uspl_trace_thread *table = (void *)tracer.control->threads, *mine = NULL, kept;
	struct sigaction old;
	sigset_t alarms, before;

	storm_id = trace(fib, false);
	fib(1);
	for (size_t i = 0; i < USPL_TRACE_THREADS; i++)
		if (table[i].thread == (uintptr_t)__builtin_thread_pointer())
			mine = &table[i];
	kept = *mine;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	storm_begin(&old);
	for (int i = 0; i < 1000000 && handled < 2000; i++) {
		sigprocmask(SIG_BLOCK, &alarms, &before);
		memset(mine, 0, sizeof(*mine));
		tracer.counters->next_ring = rings;
		sigprocmask(SIG_SETMASK, &before, NULL);
		fib(1);
	}
	storm_end(&old);
	*mine = kept;
	tracer.counters->next_ring = rings;
	ok(handled > 100 && tracer.counters->nowhere == nowhere,
	   "a thread that is interrupted in its first call has a ring (%d signals)", (int)handled);
	untrace(storm_id);
}

static void on_fresh_stack(void)
{
	fib(2);
}

static void run_on(void *at, size_t len)
{
	ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = at;
	there.uc_stack.ss_size = len;
	there.uc_link = &here;
	makecontext(&there, on_fresh_stack, 0);
	swapcontext(&here, &there);
}

static char *chunk_new(void)
{
	char *map = pages(2 * USPL_TRACE_CHUNK, MAP_PRIVATE);

	return map + (-(uintptr_t)map & (USPL_TRACE_CHUNK - 1));
}

/* As if nothing had ever run there. */
static void chunk_forget(const char *chunk)
{
	uint64_t *words = (void *)tracer.control->chunks;

	for (size_t i = 0; i < USPL_TRACE_CHUNKS; i++)
		if ((words[i] & -(uint64_t)USPL_TRACE_CHUNK) == (uintptr_t)chunk) {
			uintptr_t at = USPL_TRACE_SHADOW((uintptr_t)chunk) ^ SHADOW;

			munmap((void *)at, 2 * USPL_TRACE_CHUNK);
			munmap((void *)USPL_TRACE_NAME(at), USPL_TRACE_NAMES);
			words[i] = 0;
		}
}

/* Signals while a stack gets its shadow: nobody takes that for somebody else's memory. */
static void test_signals_on_new_stacks(void)
{
	char *chunk = chunk_new();
	struct sigaction old;
	uint64_t before;

	storm_id = trace(fib, false);
	fib(1);
	before = my_ring()->unseen;
	storm_begin(&old);
	for (int i = 0; i < 100000 && handled < 2000; i++) {
		run_on(chunk, USPL_TRACE_CHUNK);
		/* The thread is in another chunk then. */
		fib(1);
		chunk_forget(chunk);
	}
	storm_end(&old);
	ok(handled > 100 && my_ring()->unseen == before,
	   "signals in a stack's first call lose nothing (%d signals, %llu lost)", (int)handled,
	   (unsigned long long)(my_ring()->unseen - before));
	untrace(storm_id);
}

static bool is_free(uintptr_t at)
{
	void *map = mmap((void *)at, PAGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (map == MAP_FAILED)
		return false;
	munmap(map, PAGE);
	return (uintptr_t)map == at;
}

/*
 * A shadow that can't be where it should, or what says whose its slots are: what runs on that stack
 * is counted, and nothing stays mapped for it.
 */
static void test_taken_shadow(bool names)
{
	char *chunk = chunk_new();
	uintptr_t shadow = USPL_TRACE_SHADOW((uintptr_t)chunk) ^ SHADOW;
	uintptr_t at = names ? USPL_TRACE_NAME(shadow) : shadow;
	void *taken = mmap((void *)at, PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	uint32_t id = trace(fib, false);
	uint64_t from = position(), before = my_ring()->unseen;

	run_on(chunk, USPL_TRACE_CHUNK);
	fib(1);
	ok((uintptr_t)taken == at && count(my_ring(), from, id) == 1 &&
		   my_ring()->unseen - before == 3,
	   "calls on a stack whose shadow's place is taken are counted");
	ok(!names || is_free(shadow), "and no part of it stays");
	munmap(taken, PAGE);
	chunk_forget(chunk);
	untrace(id);
}

/* With no ring left, calls are counted, not lost silently. */
static void *without_ring(void *arg)
{
	*(long *)arg = fib(5);
	return NULL;
}

static void test_no_ring(void)
{
	uint32_t id = trace(fib, false);
	uint64_t n_rings = tracer.control->n_rings, before = tracer.counters->nowhere;
	pthread_t thread;
	long result = 0;
	pthread_attr_t attr;

	tracer.control->n_rings = 0;
	pthread_attr_init(&attr);
	/* A stack of its own size, so that its thread pointer is a new one. */
	pthread_attr_setstacksize(&attr, 64 << 20);
	pthread_create(&thread, &attr, without_ring, &result);
	pthread_join(thread, NULL);
	tracer.control->n_rings = n_rings;
	ok(result == 5 && tracer.counters->nowhere - before == 15,
	   "a call that finds no ring is counted");
	untrace(id);
}

int main(void)
{
	set_up();
	test_signals();
	test_signals_at_first();
	test_signals_on_new_stacks();
	test_taken_shadow(false);
	test_taken_shadow(true);
	test_no_ring();
	return tap_done();
}
