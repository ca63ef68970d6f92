// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a program whose threads see at once if its functions are of different versions
//
// Each version has its own digit: head() and tail() return it, whole() adds a hundred times one
// less than it. What whole() makes of them tells whether all three are of one version.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

KEPT int head(void);
KEPT int tail(void);
KEPT int whole(void);
KEPT const char *lone(int n);
KEPT int shaped(void);

static atomic_int rounds, mixed;

KEPT int head(void)
{
	__asm__ volatile("");
	return 1;
}

KEPT int tail(void)
{
	__asm__ volatile("");
	return 1;
}

KEPT int whole(void)
{
	int value = 10 * head();

	return value + tail() + 0;
}

KEPT const char *lone(int n)
{
	__asm__ volatile("");
	return n ? "alone" : "none";
}

static volatile int shape = 1;

KEPT int shaped(void)
{
	return shape + 0;
}

static void *work(void *arg)
{
	(void)arg;
	for (;;) {
		int value = whole(), digit = value % 10;

		if (value != 100 * (digit - 1) + 11 * digit)
			mixed++;
		rounds++;
		usleep(200);
	}
	return NULL;
}

static void start(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			abort();
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "whole"))
		snprintf(reply, size, "%d", whole());
	else if (!strcmp(request, "lone"))
		snprintf(reply, size, "%s", lone((int)size));
	else if (!strcmp(request, "shaped"))
		snprintf(reply, size, "%d", shaped());
	else if (!strncmp(request, "start ", 6))
		start(atoi(request + 6));
	else if (!strcmp(request, "load"))
		snprintf(reply, size, "%s, %d mixed", rounds ? "works" : "idle", mixed);
}
