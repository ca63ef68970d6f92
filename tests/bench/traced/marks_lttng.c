// SPDX-License-Identifier: GPL-3.0-or-later
// marks_lttng.c - makes the tracepoint's code out of its header

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "marks_lttng.h"
