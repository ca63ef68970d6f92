/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.h - calls are saved as they come, for longer than the rings hold them */
#ifndef USPL_TRACE_CMD_STREAM_H
#define USPL_TRACE_CMD_STREAM_H

#include "base/error.h"

struct reader;

/*
 * Saves what the reader's process has recorded and goes on to record, for so long, until ^C, or
 * until the process or its tracing ends, whichever comes first; prints the number of calls. The
 * file is made in the end.
 */
int stream_record(struct reader *reader, double seconds, const char *path,
		  struct uspl_err *err) uspl_must_check;

#endif
