// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_rehearse.c - what is slow when it is done for the first time is done before a thread stands still
/*
 * A frame of code that hasn't been met before costs some 8 us: libdw looks for its call frame
 * information, and reads that from a file which isn't mapped yet. The outer frames of a thread are
 * the same for most of its life, so they are known if its stack is followed once, a moment before,
 * in a copy that the kernel makes while the thread runs.
 */

#include "live/quiet.h"
#include "proc/glimpse.h"

/* How many of those that run are looked at, and how long that may take. */
#define REHEARSED_MAX 16
#define REHEARSAL_NS 4000000ll

static bool go_on(void *ctx, const struct unwind_frame *frame)
{
	(void)ctx;
	(void)frame;
	return true;
}

/* Follows the stack of one that runs, as it was a moment ago. */
static bool rehearse(struct unwinder *unwinder, pid_t tid, int64_t deadline)
{
	static struct glimpse glimpse;
	taddr sp;

	if (!glimpse_take(tid, deadline, &glimpse))
		return false;
	unwinder_lend_stack(unwinder, glimpse.regs.value[DWARF_SP], glimpse.stack,
			    glimpse.stack_len);
	unwind(unwinder, &glimpse.regs, go_on, NULL, &sp);
	unwinder_lend_stack(unwinder, 0, NULL, 0);
	return true;
}

void quiet_rehearse(struct quiet *quiet)
{
	int64_t deadline = clock_now_ns() + REHEARSAL_NS;
	const struct asleep_thread *thread;
	size_t left = REHEARSED_MAX;

	vec_for_each (&quiet->asleep.threads, thread) {
		if (thread->class != ASLEEP_RUNS || !left--)
			continue;
		if (!rehearse(quiet->run->safety.unwinder, thread->tid, deadline))
			break;
	}
}
