// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - greets; may have a child in its own memory

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

void greet(char *reply, size_t size);

static char stack[65536] __attribute__((aligned(16)));
static volatile int go_on;
static pid_t child;

static int child_main(void *arg)
{
	(void)arg;
	while (go_on)
		usleep(1000);
	return 0;
}

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

static void part(char *reply, size_t size)
{
	go_on = 0;
	snprintf(reply, size, "%s", waitpid(child, NULL, 0) == child ? "alone" : "failed");
}

static void join(char *reply, size_t size)
{
	go_on = 1;
	child = clone(child_main, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	snprintf(reply, size, "%s", child > 0 ? "together" : "failed");
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "join"))
		join(reply, size);
	else if (!strcmp(request, "part"))
		part(reply, size);
	else
		greet(reply, size);
}
