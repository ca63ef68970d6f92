/* SPDX-License-Identifier: GPL-3.0-or-later */
/* values_shown.h - arguments and results of calls, as text and in JSON */
#ifndef USPL_TRACE_OUTPUT_VALUES_SHOWN_H
#define USPL_TRACE_OUTPUT_VALUES_SHOWN_H

#include "base/error.h"

struct buf;
struct json;
struct trace_log;

/* Appends values as "fd=7, name="x""; nothing if there are none. */
void values_add_text(const struct trace_log *log, uint32_t offset, struct buf *out);
/* Adds them to an open object, each by its name; what has none gets the name given. */
void values_add_json(const struct trace_log *log, uint32_t offset, const char *name,
		     struct json *json);

#endif
