/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampler.h - where a thread runs at some moment, with its stack, without stopping it
 *
 *     sampler_open    a sampler through which one thread can be seen
 *     sampler_arm     the thread is noted once, when it has run for 25 us, in user mode
 *     sampler_take    what has been noted; or sampler_await, which does both
 *     sampler_close
 *
 * The kernel copies the registers and the stack in a clock's interrupt (perf_event_open(2),
 * PERF_COUNT_SW_TASK_CLOCK), and the thread goes on, some 5 us later. By the time the note is read
 * the thread is somewhere else.
 */
#ifndef USPL_THREAD_SAMPLER_H
#define USPL_THREAD_SAMPLER_H

#include "arch/regs.h"
#include "base/vec.h"
#include "perf/perf_ring.h"

/* As much of the stack as is copied, in bytes. */
#define SAMPLE_STACK 8192

struct thread_sample {
	struct some_regs regs;
	size_t stack_len;            /* of what follows: less where the stack ends */
	uint8_t stack[SAMPLE_STACK]; /* from the stack pointer on */
};

struct sampler {
	pid_t tid;
	int fd;
	struct perf_ring ring;
};

typedef VEC(struct sampler) sampler_vec;

/* False if the kernel doesn't allow it; there is nothing to close then. */
bool sampler_open(struct sampler *sampler, pid_t tid);
void sampler_close(struct sampler *sampler);
/* Takes some 20 us: it interrupts the thread's processor. False if the kernel doesn't do it. */
bool sampler_arm(struct sampler *sampler);
/*
 * True if the thread has been noted since then (CLOCK_MONOTONIC, ns). What was seen is true of an
 * instant after that, and before now: the interrupt ended in between, and the thread did nothing in
 * it.
 */
bool sampler_take(struct sampler *sampler, int64_t since, struct thread_sample *ret);
/* Arms it, and waits for the note until the deadline (CLOCK_MONOTONIC, ns). */
bool sampler_await(struct sampler *sampler, int64_t deadline, struct thread_sample *ret);

#endif
