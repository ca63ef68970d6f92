/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.h - calls are saved as they come, for longer than the rings hold them */
#ifndef USPL_TRACE_CMD_STREAM_H
#define USPL_TRACE_CMD_STREAM_H

#include "base/error.h"

struct reader;

struct kernel_watch;

/*
 * Saves what the reader's process has recorded and goes on to record, for so long, until ^C, or
 * until the process or its tracing ends, whichever comes first; prints the number of calls. The
 * file is made in the end. kernel: what it tells meanwhile is saved, too; it is told to begin.
 * NULL: it isn't asked.
 */
int stream_record(struct reader *reader, struct kernel_watch *kernel, double seconds,
		  const char *path, struct uspl_err *err) uspl_must_check;

#endif
