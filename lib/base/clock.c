// SPDX-License-Identifier: GPL-3.0-or-later
// clock.c - the time that deadlines are on

#include "base/clock.h"

#include <time.h>

int64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void clock_pause_ns(int64_t ns)
{
	const struct timespec pause = { 0, ns };

	nanosleep(&pause, NULL);
}
