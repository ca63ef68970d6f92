// SPDX-License-Identifier: GPL-3.0-or-later
// urgency.c - the tool goes before all others while threads stand still for it

#include "thread/urgency.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

/* With 512 a busy thread stood still for longer, with 256 it didn't (docs/evaluation.md). */
#define THREADS_MAX 256

static bool is_real_time(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

void urgency_begin(struct urgency *urgency, size_t threads)
{
	const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	*urgency = (struct urgency){ .old_policy = sched_getscheduler(0),
				     .old_nice = getpriority(PRIO_PROCESS, 0) };
	if (urgency->old_policy < 0 || is_real_time(urgency->old_policy))
		return;
	if (threads > THREADS_MAX ||
	    sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) != 0)
		setpriority(PRIO_PROCESS, 0, -20);
}

void urgency_end(const struct urgency *urgency)
{
	/* All policies but the real-time ones have this priority. */
	const struct sched_param none = { .sched_priority = 0 };
	int saved = errno;

	if (urgency->old_policy >= 0 && !is_real_time(urgency->old_policy)) {
		(void)sched_setscheduler(0, urgency->old_policy, &none);
		setpriority(PRIO_PROCESS, 0, urgency->old_nice);
	}
	errno = saved;
}
