// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a thread that spins in a function

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

KEPT unsigned long spin(void);
KEPT const char *version(void);

static atomic_bool inside, leave;
static pthread_t spinner;

unsigned long spin(void)
{
	unsigned long rounds = 0;

	do
		rounds++;
	while (!leave);
	return rounds;
}

static void *run(void *arg)
{
	pthread_setname_np(pthread_self(), "spinner");
	inside = true;
	spin();
	return arg;
}

const char *version(void)
{
	return "old";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "spin")) {
		pthread_create(&spinner, NULL, run, NULL);
		while (!inside)
			;
	} else if (!strcmp(request, "leave")) {
		leave = true;
		pthread_join(spinner, NULL);
	}
	snprintf(reply, size, "%s", version());
}
