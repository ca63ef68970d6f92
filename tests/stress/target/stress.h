/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stress.h - what the threads of the stress program share
 *
 * Each worker is a thread that does one thing that a live patcher may disturb, again and again, and
 * checks what comes of it. In between it calls the functions of patched.cc, which an update changes
 * and changes back: whatever they answer has to be all old or all new.
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdint.h>

/* A function that stays one piece under its own name. */
#define KEPT __attribute__((noipa))

/* One thread's work: never returns. */
struct worker {
	const char *name;
	void (*run)(struct worker *self);
	volatile unsigned long done; /* rounds of it */
};

/* Counts something that must not be, and keeps the first one's text. */
void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Counts a call that ended with EINTR although no signal was for the thread. */
void disturbed(const char *call);
/* True if that was so in this thread since this was asked last. */
bool was_disturbed(void);
/* Of a call that waits: false, and noted, if it failed otherwise than with `expected`. */
bool expect_errno(const char *call, long rc, int expected);

/* patched.cc. 11 (old) or 22 (new); anything else is a mixture. */
KEPT int both(void);
/*
 * The same, by and by: *code says it meanwhile. -1 if the calls within it answer otherwise than it
 * does itself.
 */
KEPT int dwells(long us, int depth, volatile int *code);
/* Leaves by siglongjmp to env, with the same answer. */
KEPT void leaves(void *env);
/* Throws it, as an int. */
KEPT void throws(int depth);
/* True while threads are to be in the functions most of the time. */
bool dwelling(void);
/* Notes it as wrong if the answer is neither. */
void expect_version(const char *who, int answer);

#define WORKERS(list) struct worker list[]
extern struct worker signal_workers[], birth_workers[], stack_workers[], memory_workers[],
	sleep_workers[], ring_workers[], dwell_workers[];

/*
 * Between two calls of the functions: a thread that is in them nearly all the time, and traced
 * besides, is seen outside only by luck.
 */
void work_elsewhere(void);
int64_t now_ns(void);
void nap_us(long us);
/* The same in a thread that gets signals. */
void doze_us(long us);

#endif
