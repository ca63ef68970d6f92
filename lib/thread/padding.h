/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * padding.h - places in a process that nothing uses: the end of a module's last page of constants
 *
 * They are there as long as the module, need no mapping, and are read by the kernel like any other
 * memory. What is found there begins with a mark of ours, or is zeros.
 *
 * A call goes by what lies in its place for as long as it lasts, whichever tools come and go: it is
 * read again each time that the call is restarted. So each place is one thread's, and says whose.
 */
#ifndef USPL_THREAD_PADDING_H
#define USPL_THREAD_PADDING_H

#include "proc/proc.h"

/* How much there is room for in one. */
#define PADDING_ROOM 24

/* As it lies in the process. */
struct padding_place {
	uint8_t room[PADDING_ROOM];
	uint64_t owner; /* the thread's id as the process knows it; 0: it is free */
};

#define PADDING_PLACES 127 /* as many as a page has room for, behind the mark */

struct padding {
	taddr at; /* of the first place */
	size_t n;
	struct padding_place places[PADDING_PLACES];
	bool taken[PADDING_PLACES]; /* a thread will go by it, even if it doesn't yet */
};

/* Finds room for some places, and marks it. False if there is none. */
bool padding_find(const struct proc *proc, struct padding *ret);
/* A place that was taken before. 0 is none. */
void padding_keep(struct padding *padding, taddr at);
/*
 * The thread's place, made its own if it had none. 0: all are those of threads that may be in calls
 * which go by them.
 */
taddr padding_take(const struct proc *proc, struct padding *padding, pid_t tid);

#endif
