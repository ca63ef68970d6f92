/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * top_callers.h - who calls a function, by looks at the calls that are open
 *
 * A profile has sums of functions, not of call sites. But each call that is open has its return
 * address beside it. So a function that takes time is met by its callers' shares of that time,
 * if it is looked at often enough; one that takes next to none is seldom met.
 */
#ifndef USPL_TRACE_TOP_TOP_CALLERS_H
#define USPL_TRACE_TOP_TOP_CALLERS_H

#include "trace/top/top_rows.h"

/* A place from which the function was called. */
struct top_caller {
	taddr back;      /* the return address */
	uint32_t around; /* the traced function whose call was the next one around it; 0: none */
	uint64_t seen;
};

/* Zero-initialise it, but for the function. */
struct top_callers {
	uint32_t id;
	uint64_t looks, seen; /* seen: open calls of it, in all looks together */
	VEC(struct top_caller) items;
};

/* Frees what has been seen. */
void top_callers_release(struct top_callers *callers);
/* Looks once more. */
int top_callers_look(struct top_callers *callers, const struct top_rows *rows,
		     struct uspl_err *err) uspl_must_check;
/* Most seen first. */
void top_callers_sort(struct top_callers *callers);

#endif
