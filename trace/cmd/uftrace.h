/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uftrace.h - what was recorded as a folder that uftrace reads */
#ifndef USPL_TRACE_CMD_UFTRACE_H
#define USPL_TRACE_CMD_UFTRACE_H

#include "base/types.h"

struct reader;
struct uspl_err;

/*
 * Writes what was read into a new folder of uftrace's form. USPL_E_UNSUPPORTED if no returns were
 * recorded.
 */
int uftrace_write(struct reader *reader, const char *dir, struct uspl_err *err) uspl_must_check;

#endif
