// SPDX-License-Identifier: GPL-3.0-or-later
// ask_counts.c - what the kernel counts and tells of threads

#include "check-machine/ask.h"
#include "thread/sleep_time.h"
#include "thread/runcount.h"

static void ask_sum(struct ask *ask)
{
	struct uspl_err why = { 0 };
	struct runsum sum;
	char setting[16];

	if (runcount_sum_open(&sum, ask->proc, &why) == 0) {
		runcount_sum_close(&sum);
		answers_add(&ask->answers, "taskstats", VERDICT_OK,
			    "whether any of a process's threads has run is told by one figure");
		return;
	}
	/* Why there is none, as far as a user can do something about it. */
	ask_read_line("/proc/sys/kernel/task_delayacct", setting, sizeof(setting));
	if (!why.hint[0] && geteuid() != 0)
		uspl_hint(&why, "run as root (CAP_NET_ADMIN)");
	else if (!why.hint[0] && setting[0] == '0')
		uspl_hint(&why, "sysctl kernel.task_delayacct=1, for processes that are started "
				"after it");
	else if (!why.hint[0])
		uspl_hint(&why,
			  "a kernel with CONFIG_TASKSTATS and CONFIG_TASK_DELAY_ACCT (Linux 5.14 "
			  "and later: started with 'delayacct'); in containers it is often out of "
			  "reach");
	answers_add_err(&ask->answers, "taskstats", VERDICT_LIMITED,
			"counts are read one by one, which takes longer with hundreds of threads",
			&why);
}

void ask_counts(struct ask *ask)
{
	struct sleep_time sleep_time = { .tid = ask->plain.pid };

	if (runcount_is_kept()) {
		answers_add(&ask->answers, "run-counts", VERDICT_OK,
			    "the kernel counts how often each thread runs");
	} else {
		answers_add(
			&ask->answers, "run-counts", VERDICT_LIMITED,
			"the kernel doesn't count how often a thread runs: no thread can be left "
			"alone, and a busy function is tried again at intervals");
		answers_way_out(&ask->answers, "a kernel with CONFIG_SCHED_INFO");
	}
	if (!ask->proc)
		return;
	ask_sum(ask);
	if (sleep_time_read(ask->proc, &sleep_time)) {
		answers_add(&ask->answers, "sleep-times", VERDICT_OK,
			    "a call with a time-out that a stop interrupts goes on with what is "
			    "left of it");
		return;
	}
	answers_add(&ask->answers, "sleep-times", VERDICT_LIMITED,
		    "some calls with a time-out that a stop interrupts begin anew with all of it");
	answers_way_out(&ask->answers, "a kernel with CONFIG_SCHED_DEBUG");
}
