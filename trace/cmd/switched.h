/* SPDX-License-Identifier: GPL-3.0-or-later */
/* switched.h - what start and stop say of the switch that they have made */
#ifndef USPL_TRACE_CMD_SWITCHED_H
#define USPL_TRACE_CMD_SWITCHED_H

#include "base/error.h"

struct trace_switch;
struct tracer;

/*
 * Warns that so many bytes of a process weren't searched for stacks that no thread is on; of 0 it
 * says nothing.
 */
void switched_warn_left_out(pid_t pid, uint64_t left_out);
/*
 * Says on stdout what start, with this tracer, or stop (NULL) has done in a process; as an object
 * of JSON even if nothing but errors is to be printed. saved: where stop has saved the records;
 * NULL: nowhere.
 */
void switched_print(pid_t pid, const struct tracer *tracer, const struct trace_switch *result,
		    const char *saved, bool json);

#endif
