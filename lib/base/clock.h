/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - the time that deadlines are on */
#ifndef USPL_BASE_CLOCK_H
#define USPL_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t clock_now_ns(void);
/* Sleeps for that time, or until a signal comes. For less than a second. */
void clock_pause_ns(int64_t ns);

#endif
