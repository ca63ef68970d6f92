/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cancel.h - ^C between two steps instead of in the middle of one
 *
 * SIGINT, SIGTERM and SIGHUP are noted and asked for at places where everything can be put back.
 * While a target stands still they are blocked altogether (thread/stop.h).
 */
#ifndef USPL_BASE_CANCEL_H
#define USPL_BASE_CANCEL_H

#include "base/error.h"

/* From now on the signals are noted. For a command's beginning. */
void cancel_catch(void);
/* True once one of them has come. */
bool cancel_requested(void);
/* The same while they are blocked, and one that comes can't be noted yet. Takes a system call. */
bool cancel_pending(void);
/* What was asked for is being done: from now on another one counts. */
void cancel_forget(void);
/* 0, or once one of them has come -USPL_E_CANCELLED: for where a step would begin. */
uspl_must_check int cancel_check(struct uspl_err *err);

#endif
