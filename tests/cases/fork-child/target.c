// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - goes on in a child

#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "serve.h"

KEPT const char *text(void);

const char *text(void)
{
	return "old";
}

/* The child answers from now on; the parent stays, and ends it with itself. */
static void go_on_in_child(char *reply, size_t size)
{
	if (fork() != 0)
		for (;;)
			pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(reply, size, "%d", getpid());
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "fork"))
		go_on_in_child(reply, size);
	else
		snprintf(reply, size, "%s", text());
}
