// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has a thread that is in a function of the library

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"
#include "wait.h"

static atomic_bool inside, go;
static pthread_t waiter;

static void *run(void *arg)
{
	inside = true;
	wait_for(&go);
	return arg;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "begin")) {
		go = inside = false;
		pthread_create(&waiter, NULL, run, NULL);
		while (!inside)
			;
	} else if (!strcmp(request, "finish")) {
		go = true;
		pthread_join(waiter, NULL);
	}
	snprintf(reply, size, "%d", go ? wait_for(&go) : 0);
}
