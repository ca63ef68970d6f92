// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts for each thread

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

static __thread int count;
__thread int step = 1;

KEPT void bump(const char *who, char *reply, size_t size);

void bump(const char *who, char *reply, size_t size)
{
	count += 1;
	snprintf(reply, size, "%s %d", who, count);
}

static void *in_thread(void *reply)
{
	count = 100;
	step = 11;
	bump("thread", reply, LINE_SIZE);
	return NULL;
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;

	if (!strcmp(request, "main")) {
		bump("main", reply, size);
		return;
	}
	pthread_create(&thread, NULL, in_thread, reply);
	pthread_join(thread, NULL);
}
