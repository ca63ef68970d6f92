// SPDX-License-Identifier: GPL-3.0-or-later
// urgency.c - the tool goes before all others while threads stand still for it

#include "thread/urgency.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

static bool is_real_time(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

void urgency_begin(struct urgency *urgency)
{
	const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	*urgency = (struct urgency){ .old_policy = sched_getscheduler(0),
				     .old_nice = getpriority(PRIO_PROCESS, 0) };
	(void)sched_getparam(0, &urgency->old_param);
	if (urgency->old_policy < 0 || is_real_time(urgency->old_policy))
		return;
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) != 0)
		setpriority(PRIO_PROCESS, 0, -20);
}

void urgency_end(const struct urgency *urgency)
{
	int saved = errno;

	if (urgency->old_policy >= 0 && !is_real_time(urgency->old_policy)) {
		(void)sched_setscheduler(0, urgency->old_policy, &urgency->old_param);
		setpriority(PRIO_PROCESS, 0, urgency->old_nice);
	}
	errno = saved;
}
