// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - cancels a thread that waits

#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

static char log_text[LINE_SIZE];
static sem_t waiting;

KEPT void outer(int deep);
KEPT void wait_forever(int deep);
KEPT void sleep_once(void);

static void clean_up(void *name)
{
	strcat(log_text, " ");
	strcat(log_text, name);
}

void sleep_once(void)
{
	sem_post(&waiting);
	pause();
}

void wait_forever(int deep)
{
	pthread_cleanup_push(clean_up, "wait");
	if (deep)
		sleep_once();
	sem_post(&waiting);
	pause();
	pthread_cleanup_pop(0);
}

void outer(int deep)
{
	pthread_cleanup_push(clean_up, "outer");
	wait_forever(deep);
	pthread_cleanup_pop(0);
}

static void *run(void *request)
{
	outer(!strcmp(request, "deep"));
	return NULL;
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;
	void *result;

	log_text[0] = '\0';
	sem_init(&waiting, 0, 0);
	pthread_create(&thread, NULL, run, (void *)request);
	sem_wait(&waiting);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	snprintf(reply, size, "%s, cleaned up:%s",
		 result == PTHREAD_CANCELED ? "cancelled" : "ended", log_text);
}
