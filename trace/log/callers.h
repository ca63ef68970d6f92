/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callers.h - the return addresses that records mention, by their low halves, and their names */
#ifndef USPL_TRACE_LOG_CALLERS_H
#define USPL_TRACE_LOG_CALLERS_H

#include "trace/log/ring.h"

/* The function that the return addresses with this low half lie in. */
struct trace_caller {
	uint32_t low;
	char *name;
};

typedef VEC(struct trace_caller) trace_callers;

/* Adds each return address of the records once, in order and without a name. */
int callers_collect(const trace_records *records, trace_callers *callers,
		    struct uspl_err *err) uspl_must_check;
/* The one with that low half, or NULL. */
const struct trace_caller *callers_find(const trace_callers *callers, uint32_t low);

#endif
