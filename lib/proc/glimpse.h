/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glimpse.h - where a thread runs at some moment, with its stack, without stopping it
 *
 * By the time it is read the thread is somewhere else. It tells which code will be met on the stack,
 * not whether any is.
 */
#ifndef USPL_PROC_GLIMPSE_H
#define USPL_PROC_GLIMPSE_H

#include "arch/regs.h"

/* As much of the stack as is copied, in bytes. */
#define GLIMPSE_STACK 8192

struct glimpse {
	struct some_regs regs;
	size_t stack_len;             /* of what follows: less where the stack ends */
	uint8_t stack[GLIMPSE_STACK]; /* from the stack pointer on */
};

/*
 * Has the kernel note the registers and the stack of a thread at some moment at which it runs in user mode,
 * by a clock's interrupt (perf_event_open(2), PERF_COUNT_SW_TASK_CLOCK): it takes the thread some 10 us. False if
 * that doesn't come about by the deadline (CLOCK_MONOTONIC, ns), since the thread doesn't run, or the
 * kernel doesn't let us.
 */
bool glimpse_take(pid_t tid, int64_t deadline, struct glimpse *ret);

#endif
