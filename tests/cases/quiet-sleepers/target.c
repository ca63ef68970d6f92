// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a hundred threads that sleep until they are asked to say something

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

#define SLEEPERS 100

static int wake[2];
static atomic_int said[3];

KEPT int word(void);

int word(void)
{
	return 1;
}

static void *sleep_and_say(void *arg)
{
	char byte;

	(void)arg;
	while (read(wake[0], &byte, 1) == 1)
		said[word()]++;
	return NULL;
}

/* Works for the time that is given, so that somebody runs while the update is applied. */
static void *spin(void *arg)
{
	for (;;)
		said[0] += word() > 2;
	return arg;
}

static void start(void)
{
	pthread_t thread;

	if (pipe(wake) != 0)
		return;
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, sleep_and_say, NULL);
	pthread_create(&thread, NULL, spin, NULL);
}

/* Wakes all of them, and waits for what they say. */
static void wake_all(void)
{
	char bytes[SLEEPERS] = { 0 };

	said[1] = said[2] = 0;
	if (write(wake[1], bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
		return;
	while (said[1] + said[2] < SLEEPERS)
		usleep(1000);
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		start();
	else if (!strcmp(request, "wake"))
		wake_all();
	snprintf(reply, size, "%d say old, %d say new", said[1], said[2]);
}
