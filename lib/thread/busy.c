// SPDX-License-Identifier: GPL-3.0-or-later
// busy.c - how busy the machine is, for messages

#include "thread/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

void busy_describe(char ret[BUSY_TEXT_LEN])
{
	double load = 0;
	int processors = get_nprocs();

	if (getloadavg(&load, 1) == 1)
		snprintf(ret, BUSY_TEXT_LEN, "the machine has a load of %.1f on %d processor%s",
			 load, processors, processors == 1 ? "" : "s");
	else
		snprintf(ret, BUSY_TEXT_LEN, "the machine is busy");
}
