/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ending.h - threads that are on their way out */
#ifndef USPL_PROC_ENDING_H
#define USPL_PROC_ENDING_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits for the end of a thread of whatever process that is on its way out (PF_EXITING in its
 * flags, include/linux/sched.h), as one does that was killed: until then it traces what it traced.
 * False if it isn't on its way, or has not ended after ten seconds.
 */
bool ending_await(pid_t tid);

#endif
