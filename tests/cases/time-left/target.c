// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads that wait, and tells for how long they did

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"
#include "waits.h"

KEPT const char *text(void);

const char *text(void)
{
	return "old";
}

static struct timespec began;
static atomic_int over;
static _Atomic(const char *) amiss, who;

static double seconds_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

static void *run(void *arg)
{
	const struct wait *wait = arg;
	struct timespec from;
	double seconds;
	int result;

	clock_gettime(CLOCK_MONOTONIC, &from);
	result = wait->wait();
	seconds = seconds_since(&from);
	if (result)
		amiss = "did not time out";
	else if (seconds < WAIT_SECONDS)
		amiss = "came back early";
	else if (seconds > WAIT_SECONDS + 2 && !wait->anew)
		amiss = "waited too long";
	else
		wait = NULL;
	if (wait)
		who = wait->name;
	over++;
	return NULL;
}

static int start(void)
{
	pthread_t thread;
	int n = 0;

	waits_make();
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (; waits[n].name; n++)
		pthread_create(&thread, NULL, run, (void *)&waits[n]);
	return n;
}

/* Comes back when most of the time has passed; says how many wait still. */
static void late(char *reply, size_t size)
{
	while (seconds_since(&began) < WAIT_SECONDS - 1)
		usleep(1000);
	snprintf(reply, size, "%d are back", over);
}

static void end(char *reply, size_t size)
{
	while (waits[over].name)
		usleep(1000);
	if (amiss)
		snprintf(reply, size, "%s %s", who, amiss);
	else
		snprintf(reply, size, "all well");
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		snprintf(reply, size, "%d wait", start());
	else if (!strcmp(request, "late"))
		late(reply, size);
	else if (!strcmp(request, "end"))
		end(reply, size);
	else
		snprintf(reply, size, "%s", text());
}
