/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ending.h - the ends of threads and processes */
#ifndef USPL_PROC_ENDING_H
#define USPL_PROC_ENDING_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Waits for the end of a thread of whatever process that is on its way out (PF_EXITING in its
 * flags, include/linux/sched.h), as one does that was killed: until then it traces what it traced.
 * False if it isn't on its way, or has not ended after ten seconds.
 */
bool ending_await(pid_t tid);

/*
 * A descriptor of the process (pidfd_open(2)), which the caller closes: poll(2) finds it readable
 * once the process has ended. A failure leaves errno, too.
 */
int ending_open(pid_t pid, int *ret_fd, struct uspl_err *err) uspl_must_check;

#endif
