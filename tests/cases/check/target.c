// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - waits inside a function, and in the first function of a thread

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

KEPT void hold(char *reply, size_t size);
KEPT void wait_for_line(const char *say);
KEPT void *loop(void *arg);

static atomic_bool looping, stop;

/* Tells that it waits, and waits for a line. */
void wait_for_line(const char *say)
{
	char line[LINE_SIZE];

	puts(say);
	fflush(stdout);
	next_line(line);
}

void hold(char *reply, size_t size)
{
	wait_for_line("holding old");
	snprintf(reply, size, "done old");
}

void *loop(void *arg)
{
	int rounds = 1;

	pthread_setname_np(pthread_self(), "looper");
	looping = true;
	while (!stop)
		usleep(1000 * rounds);
	looping = false;
	return arg;
}

static void start(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, loop, NULL);
	pthread_detach(thread);
	while (!looping)
		usleep(1000);
}

void answer(const char *request, char *reply, size_t size)
{
	snprintf(reply, size, "ok");
	if (!strcmp(request, "hold"))
		hold(reply, size);
	else if (!strcmp(request, "start"))
		start();
	else if (!strcmp(request, "stop"))
		stop = true;
}
