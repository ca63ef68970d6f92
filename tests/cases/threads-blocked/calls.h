/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.h - the system calls that the threads block in */
#ifndef USPL_TESTS_CALLS_H
#define USPL_TESTS_CALLS_H

#include <stddef.h>

/* One call, which never returns by itself in the time of a test. */
struct call {
	const char *name;
	void (*block)(void);
	/*
	 * It gives an account of what it has done so far when it is interrupted, as the kernel has
	 * it: only a thread that isn't stopped doesn't notice.
	 */
	int partial;
};

/* The end of each table has no name. */
extern const struct call file_calls[], socket_calls[], wait_calls[], queue_calls[];

/* What the calls need; made once, before the threads. */
void make_files(void);
void make_sockets(void);
void make_waits(void);
void make_queues(void);

/* An hour: longer than any test. */
#define HOUR 3600
extern const struct timespec hour;
extern const struct timeval hour_tv;

#endif
