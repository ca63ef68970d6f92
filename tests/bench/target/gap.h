/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gap.h - what the target writes down about its busy thread, in a file that others read and reset
 */
#ifndef BENCH_GAP_H
#define BENCH_GAP_H

#include <stdint.h>

struct gap {
	volatile uint64_t
		longest_ns; /* the longest time between two clock readings; set it to 0 to begin anew */
	volatile uint64_t calls;  /* of the patched function */
	volatile uint64_t result; /* what it last returned */
};

#endif
