/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sleep_time.h - how long threads have been asleep
 *
 * The kernel's scheduler notes when a thread last ran (se.exec_start in /proc/PID/task/TID/sched,
 * with CONFIG_SCHED_DEBUG), by the clock of the processor that it ran on. These clocks differ (by
 * half a second on two processors, as was seen), so the time now is taken from the same one.
 */
#ifndef USPL_THREAD_SLEEP_TIME_H
#define USPL_THREAD_SLEEP_TIME_H

#include "proc/proc.h"

/* A thread that sleeps. */
struct sleep_time {
	pid_t tid;
	int cpu;          /* the processor that it ran on last */
	int64_t began_ns; /* when it stopped running, by that processor's clock */
	/*
	 * How long it has slept, at most, and as of when (CLOCK_MONOTONIC); -1 if that isn't known.
	 */
	int64_t slept_ns, as_of_ns;
};

/* Reads cpu and began_ns of sleep_time->tid. False if the kernel doesn't tell. */
bool sleep_time_read(const struct proc *proc, struct sleep_time *sleep_time);
/* How often the thread had to make way for another. False if the kernel doesn't tell. */
bool sleep_time_preempted(const struct proc *proc, pid_t tid, uint64_t *ret);
/*
 * Finds slept_ns of each of them: never more than the truth, since these clocks may stand still
 * (interrupts, time stolen by a hypervisor) but don't run ahead by more than a thousandth, which is
 * taken off. Takes some 20 us for each processor, and a second at most: a processor on which the
 * tool can't run for so long is given up.
 */
void sleep_times_measure(struct sleep_time *sleep_times, size_t n);

#endif
