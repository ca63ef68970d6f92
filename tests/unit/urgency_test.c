// SPDX-License-Identifier: GPL-3.0-or-later
// urgency_test.c - the tool's priority while threads stand still for it, and afterwards

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "thread/urgency.h"

static int policy_now(void)
{
	return sched_getscheduler(0);
}

static int priority_now(void)
{
	struct sched_param param = { 0 };

	sched_getparam(0, &param);
	return param.sched_priority;
}

/* In a process of its own, since a priority that was given up may not come back. */
static bool holds(bool (*what)(void))
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();

	if (pid == 0)
		_exit(what() ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

static bool child_is_ordinary(void)
{
	return policy_now() == SCHED_OTHER;
}

static bool goes_first(void)
{
	struct urgency urgency;
	bool raised, alone;

	setpriority(PRIO_PROCESS, 0, 3);
	urgency_begin(&urgency, 1);
	raised = policy_now() == (SCHED_RR | SCHED_RESET_ON_FORK) &&
		 priority_now() == sched_get_priority_min(SCHED_RR);
	alone = holds(child_is_ordinary);
	errno = EINTR;
	urgency_end(&urgency);
	return raised && alone && errno == EINTR && policy_now() == SCHED_OTHER &&
	       getpriority(PRIO_PROCESS, 0) == 3;
}

/* So many threads would wake up at once that others had to make way for them. */
static bool goes_with_the_crowd(void)
{
	struct urgency urgency;
	bool nice;

	setpriority(PRIO_PROCESS, 0, 3);
	urgency_begin(&urgency, 1000);
	nice = policy_now() == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == -20;
	urgency_end(&urgency);
	return nice && policy_now() == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == 3;
}

static bool idle_again(void)
{
	struct sched_param none = { 0 };
	struct urgency urgency;
	int during;

	if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		return false;
	urgency_begin(&urgency, 1);
	during = policy_now();
	urgency_end(&urgency);
	return during == (SCHED_RR | SCHED_RESET_ON_FORK) && policy_now() == SCHED_IDLE;
}

static bool keeps_what_is_higher(void)
{
	struct sched_param higher = { .sched_priority = sched_get_priority_min(SCHED_FIFO) + 4 };
	struct urgency urgency;
	bool kept;

	if (sched_setscheduler(0, SCHED_FIFO, &higher) != 0)
		return false;
	urgency_begin(&urgency, 1);
	kept = policy_now() == SCHED_FIFO && priority_now() == higher.sched_priority;
	urgency_end(&urgency);
	return kept && policy_now() == SCHED_FIFO && priority_now() == higher.sched_priority;
}

/* A user who may have neither: nothing changes, and nothing is lost. */
static bool goes_without(void)
{
	const struct rlimit none = { 0 };
	struct urgency urgency;

	setpriority(PRIO_PROCESS, 0, 3);
	if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || setrlimit(RLIMIT_NICE, &none) != 0 ||
	    setuid(65534) != 0)
		return false;
	urgency_begin(&urgency, 1);
	if (policy_now() != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != 3)
		return false;
	urgency_end(&urgency);
	return policy_now() == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == 3;
}

static const struct rlimit any_nice = { 40, 40 };

static bool may_raise_limits(void)
{
	return setrlimit(RLIMIT_NICE, &any_nice) == 0;
}

/* A user who may have a better nice value, but no real-time priority. */
static bool takes_the_nice_value(void)
{
	const struct rlimit none = { 0 };
	struct urgency urgency;
	int during;

	if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || setrlimit(RLIMIT_NICE, &any_nice) != 0 ||
	    setuid(65534) != 0)
		return false;
	urgency_begin(&urgency, 1);
	during = getpriority(PRIO_PROCESS, 0);
	urgency_end(&urgency);
	return policy_now() == SCHED_OTHER && during == -20 && getpriority(PRIO_PROCESS, 0) == 0;
}

int main(void)
{
	struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	if (geteuid() != 0 || sched_setscheduler(0, SCHED_RR, &lowest) != 0)
		tap_skip_all("no real-time priority here");
	lowest.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &lowest);
	ok(holds(goes_first),
	   "the lowest real-time priority, not inherited, and the old one after");
	ok(holds(goes_with_the_crowd), "a nice value only, where a thousand threads are to stop");
	ok(holds(idle_again), "so from SCHED_IDLE");
	ok(holds(keeps_what_is_higher), "a real-time priority of the tool's stays");
	ok(holds(goes_without), "a user without the right goes on with what there is");
	if (holds(may_raise_limits))
		ok(holds(takes_the_nice_value), "one who may only have a nice value gets that");
	else
		ok(true, "one who may only have a nice value # SKIP without CAP_SYS_RESOURCE");
	return tap_done();
}
