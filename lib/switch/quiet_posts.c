// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_posts.c - those that run, looked at while they do
/*
 * A thread that runs is seen as it is at one instant: the kernel copies its registers and its stack
 * in a clock's interrupt. With the gates closed that is enough. Whoever is outside the code then
 * stays outside, for he can't get past a gate; so it need not be known where he is now.
 *
 * The copy is short. Where the unwind leaves it (a deep stack, another stack behind a signal
 * handler, a shadow of the tracer's), or is lost, nothing is concluded, and the thread has to be
 * stopped.
 *
 * It is done once before the gates are closed, too. A frame of code that hasn't been met before
 * costs some 8 us: libdw looks for its call frame information, and reads that from a file which
 * isn't mapped yet. The outer frames of a thread are the same for most of its life.
 */

#include "switch/quiet.h"

/* How many of those that run are looked at, and how long that may take the first time. */
#define POSTS_MAX 16
#define REHEARSAL_NS 4000000ll
/*
 * Who hasn't been seen for so long was seen too early, and is asked for again, or has fallen
 * asleep.
 */
#define PATIENCE_NS 60000

/* With more threads it takes longer to find out who has run than to wait for a better moment. */
#define FEW 64

/* The tool looks at one after the other. */
static struct glimpse seen;

/* A post, if the thread is seen from it once. False if the kernel doesn't show it at all. */
static bool add_post(struct quiet *quiet, pid_t tid)
{
	struct glimpse_post *post = vec_push(&quiet->posts);

	if (!post)
		return false;
	if (!glimpse_open(post, tid)) {
		quiet->posts.n--;
		return false;
	}
	if (!safety_rehearse(&quiet->run->safety, post)) {
		glimpse_close(post);
		quiet->posts.n--;
	}
	return true;
}

bool quiet_post(struct quiet *quiet)
{
	int64_t deadline = clock_now_ns() + REHEARSAL_NS;
	const struct asleep_thread *thread;
	bool shown = false;

	/* One that has only been up for a moment isn't seen, and need not be: it will be asleep. */
	vec_for_each (&quiet->asleep.threads, thread)
		if (thread->class == ASLEEP_RUNS && quiet->posts.n < POSTS_MAX &&
		    clock_now_ns() < deadline)
			shown |= add_post(quiet, thread->tid);
	return shown;
}

void quiet_drop_posts(struct quiet *quiet)
{
	struct glimpse_post *post;

	vec_for_each (&quiet->posts, post)
		glimpse_close(post);
	vec_release(&quiet->posts);
}

/*
 * Who waits for a processor isn't seen, so there must be one for each of them, and one for us. An
 * agent of a dead tool can only be ruled out by a stop.
 */
bool quiet_can_watch(struct quiet *quiet)
{
	const struct asleep_thread *thread;
	const struct glimpse_post *post;
	size_t n_run = 0, n_posted = 0;

	vec_for_each (&quiet->asleep.threads, thread)
		n_run += thread->class == ASLEEP_RUNS;
	vec_for_each (&quiet->posts, post) {
		thread = asleep_find(&quiet->asleep, post->tid);
		n_posted += thread && thread->class == ASLEEP_RUNS;
	}
	return n_posted == n_run && !quiet->run->left.n &&
	       (long)n_run < sysconf(_SC_NPROCESSORS_ONLN);
}

/*
 * True if it is outside the code as it was seen. Where nothing is known it may be elsewhere next
 * time.
 */
static bool view(struct quiet *quiet, struct glimpse_post *post, int64_t since)
{
	struct safety_finding *finding = backend_next_finding(quiet->run);

	if (!glimpse_take(post, since, &seen))
		return false;
	if (safety_check_glimpse(&quiet->run->safety, post->tid, &seen, finding))
		return true;
	if (finding->proven)
		backend_add_finding(quiet->run);
	return false;
}

/* True if all who run have been seen outside the code by now. */
static bool view_all(struct quiet *quiet, int64_t since)
{
	struct glimpse_post *post;
	bool all = true;

	vec_for_each (&quiet->posts, post) {
		struct asleep_thread *thread = asleep_find(&quiet->asleep, post->tid);

		/* One that is gone is missed by the recount. */
		if (!thread || thread->class != ASLEEP_RUNS)
			continue;
		if (!thread->cleared && view(quiet, post, since)) {
			thread->cleared = true;
			thread->regs.value[DWARF_SP] = seen.regs.value[DWARF_SP];
		}
		all &= thread->cleared;
	}
	return all;
}

bool quiet_alert_posts(struct quiet *quiet)
{
	struct glimpse_post *post;
	bool all = true;

	vec_for_each (&quiet->posts, post)
		all = all && glimpse_ask(post);
	return all;
}

/* True if each is outside the code or has none to run, and there is nobody else. */
static bool all_cleared(struct quiet *quiet)
{
	const struct asleep_thread *thread;

	vec_for_each (&quiet->asleep.threads, thread)
		if (!thread->cleared && thread->class != ASLEEP_NO_CODE)
			return false;
	/* The sum has told it: those that ran had been seen before. */
	return asleep_has_sum(&quiet->asleep) || asleep_is_complete(&quiet->asleep);
}

/* With all who run seen, and some others who have run: who these are, and where they are now. */
static bool is_empty(struct quiet *quiet)
{
	if (quiet_clear_sleepers(quiet) && all_cleared(quiet))
		return true;
	asleep_look_at_ran(&quiet->asleep);
	quiet_check_sleepers(quiet);
	return false;
}

bool quiet_watch(struct quiet *quiet, int64_t deadline)
{
	int64_t since = clock_now_ns(), look_at = since + PATIENCE_NS;

	while (!quiet->run->n_findings && clock_now_ns() < deadline) {
		if (view_all(quiet, since)) {
			if (asleep_unchanged(&quiet->asleep) ||
			    (quiet->asleep.threads.n <= FEW && is_empty(quiet)))
				return clock_now_ns() < deadline;
			if (quiet->asleep.threads.n > FEW)
				return false;
			continue;
		}
		if (clock_now_ns() < look_at)
			continue;
		look_at += PATIENCE_NS;
		if (!quiet_alert_posts(quiet))
			return false;
		asleep_look_at_ran(&quiet->asleep);
		quiet_check_sleepers(quiet);
	}
	return false;
}
