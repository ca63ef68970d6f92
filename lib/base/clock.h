/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - the time that deadlines are on, and the time of day in UTC */
#ifndef USPL_BASE_CLOCK_H
#define USPL_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-01-31T12:00:00Z" with its NUL. */
#define CLOCK_UTC_LEN 21

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t clock_now_ns(void);
/* Sleeps for that time, or until a signal comes. For less than a second. */
void clock_pause_ns(int64_t ns);
/*
 * Seconds since the epoch as "2026-01-31T12:00:00Z" (RFC 3339, in UTC). False, and an empty text,
 * for a time before the epoch or after the year 9999.
 */
bool clock_utc_text(int64_t seconds, char ret[CLOCK_UTC_LEN]);
/* Reads what clock_utc_text writes. False for anything else. */
bool clock_utc_read(const char *text, int64_t *ret_seconds);

#endif
