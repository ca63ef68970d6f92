/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader_grow.h - records of libraries that have become part of a session since it was read */
#ifndef USPL_TRACE_OUTPUT_READER_GROW_H
#define USPL_TRACE_OUTPUT_READER_GROW_H

#include "trace/output/reader.h"

/*
 * If there are records of functions that the reader doesn't know, it reads the session once more
 * (trace/engine/session_grow.h). Records of which nothing is to be learnt, since the process is
 * over, are taken out and counted as such that couldn't be recorded.
 */
int reader_grow(struct reader *reader, struct uspl_err *err) uspl_must_check;

#endif
