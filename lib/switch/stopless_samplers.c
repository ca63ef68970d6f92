// SPDX-License-Identifier: GPL-3.0-or-later
// stopless_samplers.c - threads that run, looked at while they do
/*
 * A thread that runs is seen as it is at one instant: the kernel copies its registers and its stack
 * in a clock's interrupt. With the trampolines closed that is enough. A thread that is outside the
 * code then stays outside, since it can't get past a trampoline; where it is now need not be known.
 *
 * The copy is short. Where the unwind leaves it (a deep stack, another stack behind a signal
 * handler, a shadow of the tracer's), or is lost, nothing is concluded, and the thread has to be
 * stopped.
 *
 * Threads are looked at once before the trampolines are closed, too. A frame of code that hasn't
 * been met before costs some 8 us: libdw looks for its call frame information, and reads that from
 * a file which isn't mapped yet. The outer frames of a thread are the same for most of its life.
 */

#include "switch/stopless.h"

/* How many threads that run are looked at, and how long that may take the first time. */
#define SAMPLERS_MAX 16
#define REHEARSAL_NS 4000000ll
/*
 * A thread that hasn't been seen for so long was seen too early, and is asked for again, or has
 * fallen asleep.
 */
#define PATIENCE_NS 60000

/* The tool looks at one thread after the other. */
static struct thread_sample seen;

bool stopless_open_samplers(struct stopless *stopless)
{
	int64_t deadline = clock_now_ns() + REHEARSAL_NS;
	const struct blocked_thread *thread;
	struct sampler *sampler;
	bool shown = false;

	vec_for_each (&stopless->blocked.threads, thread) {
		if (thread->class != BLOCKED_RUNS || stopless->samplers.n == SAMPLERS_MAX ||
		    clock_now_ns() >= deadline)
			continue;
		sampler = vec_push(&stopless->samplers);
		if (!sampler)
			break;
		/* The kernel doesn't show it at all. */
		if (!sampler_open(sampler, thread->tid)) {
			stopless->samplers.n--;
			continue;
		}
		shown = true;
		/*
		 * A thread that has only just woken up isn't seen, and need not be: it will sleep.
		 */
		if (!safety_warm_unwinder(&stopless->run->safety, sampler)) {
			sampler_close(sampler);
			stopless->samplers.n--;
		}
	}
	return shown;
}

void stopless_drop_samplers(struct stopless *stopless)
{
	struct sampler *sampler;

	vec_for_each (&stopless->samplers, sampler)
		sampler_close(sampler);
	vec_release(&stopless->samplers);
}

/*
 * A thread that waits for a processor isn't seen, so there must be one for each thread that runs,
 * and one for the tool. An agent of a dead tool can only be ruled out by a stop.
 */
bool stopless_can_sample(struct stopless *stopless)
{
	const struct blocked_thread *thread;
	const struct sampler *sampler;
	size_t n_run = 0, n_posted = 0;

	vec_for_each (&stopless->blocked.threads, thread)
		n_run += thread->class == BLOCKED_RUNS;
	vec_for_each (&stopless->samplers, sampler) {
		thread = blocked_find(&stopless->blocked, sampler->tid);
		n_posted += thread && thread->class == BLOCKED_RUNS;
	}
	return n_posted == n_run && !stopless->run->left.n &&
	       (long)n_run < sysconf(_SC_NPROCESSORS_ONLN);
}

/*
 * True if the thread was seen outside the code. Where nothing is known it may be elsewhere next
 * time.
 */
static bool view(struct stopless *stopless, struct sampler *sampler, int64_t since)
{
	struct safety_finding *finding = backend_next_finding(stopless->run);

	if (!sampler_take(sampler, since, &seen))
		return false;
	if (safety_check_sample(&stopless->run->safety, sampler->tid, &seen, finding))
		return true;
	if (finding->proven)
		backend_add_finding(stopless->run);
	return false;
}

/* True if all that run have been seen outside the code by now. */
static bool view_all(struct stopless *stopless, int64_t since)
{
	struct sampler *sampler;
	bool all = true;

	vec_for_each (&stopless->samplers, sampler) {
		struct blocked_thread *thread = blocked_find(&stopless->blocked, sampler->tid);

		/* The recount notices a thread that is gone. */
		if (!thread || thread->class != BLOCKED_RUNS)
			continue;
		if (!thread->accounted && view(stopless, sampler, since)) {
			thread->accounted = true;
			thread->regs.value[DWARF_SP] = seen.regs.value[DWARF_SP];
		}
		all &= thread->accounted;
	}
	return all;
}

bool stopless_arm_samplers(struct stopless *stopless)
{
	struct sampler *sampler;
	bool all = true;

	vec_for_each (&stopless->samplers, sampler)
		all = all && sampler_arm(sampler);
	return all;
}

/* With all that run seen, and some others that have run: finds out which these are, and where. */
static bool is_empty(struct stopless *stopless, bool *counted)
{
	const struct blocked_thread *thread;
	bool empty = stopless_account_sleepers(stopless, counted);

	/* Each thread is outside the code or has none to run, and there is no other thread. */
	vec_for_each (&stopless->blocked.threads, thread)
		empty = empty && (thread->accounted || thread->class == BLOCKED_NO_CODE);
	if (empty && blocked_is_complete(&stopless->blocked))
		return true;
	blocked_look_at_ran(&stopless->blocked);
	stopless_check_sleepers(stopless);
	return false;
}

bool stopless_sample(struct stopless *stopless, bool thorough, int64_t begin, int64_t deadline)
{
	int64_t since = clock_now_ns(), look_at = since + PATIENCE_NS;
	bool few = stopless->blocked.threads.n <= STOPLESS_FEW, counted = false;

	while (!stopless->run->n_findings && clock_now_ns() < begin) {
		if (view_all(stopless, since)) {
			bool rests = (few || !thorough) && !counted &&
				     blocked_unchanged(&stopless->blocked);

			/*
			 * With many threads it takes longer to find out which have run than to wait
			 * for a better moment. So it is done where that has not come.
			 */
			if (!rests && !few && !thorough)
				return false;
			if (rests || is_empty(stopless, &counted))
				return clock_now_ns() < deadline;
			continue;
		}
		if (clock_now_ns() < look_at)
			continue;
		look_at += PATIENCE_NS;
		if (!stopless_arm_samplers(stopless))
			return false;
		blocked_look_at_ran(&stopless->blocked);
		stopless_check_sleepers(stopless);
	}
	return false;
}
