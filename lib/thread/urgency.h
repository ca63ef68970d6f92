/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * urgency.h - the tool goes before all others while threads stand still for it
 *
 * A nice value says little where threads are scheduled by control groups, or by sessions
 * (autogroups): it counts within the tool's own group, and another group that is busy gets its
 * share of the processors all the same (sched(7), "The autogroup feature"). A real-time priority
 * counts everywhere. It is the lowest one, and the tool sleeps where it waits for a thread, so that
 * the thread gets a processor even if there is only one.
 */
#ifndef USPL_THREAD_URGENCY_H
#define USPL_THREAD_URGENCY_H

#include <stddef.h>

struct urgency {
	int old_policy; /* as sched_getscheduler says, with SCHED_RESET_ON_FORK */
	int old_nice;
};

/*
 * From now on the calling thread goes before all that have no real-time priority; without the right
 * to one (CAP_SYS_NICE, RLIMIT_RTPRIO) it gets the best nice value that it may have. So it does
 * where hundreds of threads are to stop: they wake up for it, and if none of them gets the tool's
 * processor in between, they take those of the threads that run. A tool that was started with a
 * real-time priority keeps it. Children don't inherit this one.
 */
void urgency_begin(struct urgency *urgency, size_t threads);
/* As it was before. errno stays. */
void urgency_end(const struct urgency *urgency);

#endif
