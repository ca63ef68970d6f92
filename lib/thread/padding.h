/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * padding.h - places in a process that nothing uses: the end of a module's last page of constants
 *
 * They are there as long as the module, need no mapping, and are read by the kernel like any other
 * memory. What is found there begins with a mark of ours, or is zeros.
 */
#ifndef USPL_THREAD_PADDING_H
#define USPL_THREAD_PADDING_H

#include "proc/proc.h"

struct padding {
	taddr next, end; /* places that may be free yet */
	uint64_t len;    /* of one */
};

/*
 * Finds room for some places of len bytes each, a power of two, and marks it. False if there is
 * none.
 */
bool padding_find(const struct proc *proc, uint64_t len, struct padding *ret);
/* The next place that is not among the n used ones; 0 if there is no more. Nothing is written. */
taddr padding_take(struct padding *padding, const taddr *used, size_t n);

#endif
