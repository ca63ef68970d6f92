// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - greets; locks its memory and gives its rights away when it is asked to

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "serve.h"

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "lock"))
		snprintf(reply, size, mlockall(MCL_CURRENT | MCL_FUTURE) ? "failed" : "locked");
	else if (!strcmp(request, "drop rights"))
		snprintf(reply, size,
			 setuid(65534) || prctl(PR_SET_DUMPABLE, 1) ? "failed" : "dropped");
	else
		greet(reply, size);
}
