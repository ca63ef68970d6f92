/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * taskstats.h - the kernel's statistics of threads and processes, by generic netlink
 *
 * Only as much of it as run counts need (Documentation/accounting/taskstats.rst,
 * linux/taskstats.h). Needs CONFIG_TASKSTATS, CONFIG_TASK_DELAY_ACCT, CAP_NET_ADMIN in the first
 * user namespace, and the first network namespace. Ids are looked up in the caller's pid namespace.
 */
#ifndef USPL_THREAD_TASKSTATS_H
#define USPL_THREAD_TASKSTATS_H

#include "base/error.h"

struct taskstats_link {
	int fd; /* a netlink socket, -1: closed */
	uint16_t family;
	uint32_t seq;
};

/* Asks the kernel for the interface's number. On failure there is nothing to close. */
int taskstats_open(struct taskstats_link *link, struct uspl_err *err) uspl_must_check;
/* Closes the socket; a link that isn't open is fine. */
void taskstats_close(struct taskstats_link *link);

/*
 * How often a thread has been put on a processor. False if the kernel doesn't answer, doesn't
 * permit it, or doesn't know the thread.
 */
bool taskstats_thread_runs(struct taskstats_link *link, pid_t tid, uint64_t *ret);
/*
 * The same for a process: the sum over its threads, and over those that it once had. Threads that
 * are zombies count in neither way.
 */
bool taskstats_process_runs(struct taskstats_link *link, pid_t pid, uint64_t *ret);

#endif
