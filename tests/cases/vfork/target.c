// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - greets, while another thread of it waits for the child that it has by vfork

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

void greet(char *reply, size_t size);

static int go[2], born[2];
static pthread_t spawner;

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

/*
 * The child says that it is there, and execs when it is told to; until then it runs in our memory.
 */
static void *spawn(void *arg)
{
	pid_t pid = vfork();
	char byte;

	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || write(born[1], "x", 1) != 1 ||
		    read(go[0], &byte, 1) != 1)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(2);
	}
	waitpid(pid, NULL, 0);
	return arg;
}

static const char *begin(void)
{
	char byte;

	if (pipe(go) || pipe(born) || pthread_create(&spawner, NULL, spawn, NULL) ||
	    read(born[0], &byte, 1) != 1)
		return "failed";
	return "begun";
}

static const char *end(void)
{
	if (write(go[1], "x", 1) != 1 || pthread_join(spawner, NULL))
		return "failed";
	return "ended";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "begin"))
		snprintf(reply, size, "%s", begin());
	else if (!strcmp(request, "end"))
		snprintf(reply, size, "%s", end());
	else
		greet(reply, size);
}
