/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glimpse.h - where a thread runs at some moment, with its stack, without stopping it
 *
 *     glimpse_open    a post from which one thread can be seen
 *     glimpse_ask     it is noted once, when it has run for 25 us, in user mode
 *     glimpse_take    what has been noted; or glimpse_await, which waits for it
 *     glimpse_close
 *
 * The kernel copies the registers and the stack in a clock's interrupt (perf_event_open(2),
 * PERF_COUNT_SW_TASK_CLOCK), and the thread goes on, some 5 us later. By the time it is read it is
 * somewhere else.
 */
#ifndef USPL_THREAD_GLIMPSE_H
#define USPL_THREAD_GLIMPSE_H

#include "arch/regs.h"
#include "base/vec.h"
#include "perf/perf_ring.h"

/* As much of the stack as is copied, in bytes. */
#define GLIMPSE_STACK 8192

struct glimpse {
	struct some_regs regs;
	size_t stack_len;             /* of what follows: less where the stack ends */
	uint8_t stack[GLIMPSE_STACK]; /* from the stack pointer on */
};

struct glimpse_post {
	pid_t tid;
	int fd;
	struct perf_ring ring;
};

typedef VEC(struct glimpse_post) glimpse_post_vec;

/* False if the kernel doesn't let us; there is nothing to close then. */
bool glimpse_open(struct glimpse_post *post, pid_t tid);
void glimpse_close(struct glimpse_post *post);
/* Some 20 us: the thread's processor is interrupted for it. False if the kernel doesn't do it. */
bool glimpse_ask(struct glimpse_post *post);
/*
 * True if it has been noted since then (CLOCK_MONOTONIC, ns). What was seen is true of an instant
 * after that, and before now: the interrupt was left in between, and the thread did nothing in it.
 */
bool glimpse_take(struct glimpse_post *post, int64_t since, struct glimpse *ret);
/* Waits for one from now on, until the deadline (CLOCK_MONOTONIC, ns). */
bool glimpse_await(struct glimpse_post *post, int64_t deadline, struct glimpse *ret);

#endif
