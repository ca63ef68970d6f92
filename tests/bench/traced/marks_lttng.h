/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks_lttng.h - the same marker as a tracepoint of LTTng-UST, which includes this file several
 * times
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "marks_lttng.h"

#if !defined(USPL_BENCH_MARKS_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define USPL_BENCH_MARKS_LTTNG_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, two, LTTNG_UST_TP_ARGS(int, a, int, b),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
