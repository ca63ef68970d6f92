// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - a thread waits where new thread-local variables are asked for, in a
// pthread_getspecific of the program's own

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

enum { KEYS = 64 };

static __thread const void *values[KEYS];
static __thread int waits;
static sem_t inside, leave;
static pthread_t held;
static char held_reply[LINE_SIZE];

KEPT void bump(char *reply, size_t size);

void bump(char *reply, size_t size)
{
	snprintf(reply, size, "old");
}

void *pthread_getspecific(pthread_key_t key)
{
	if (waits) {
		waits = 0;
		sem_post(&inside);
		sem_wait(&leave);
	}
	return (void *)values[key % KEYS];
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	values[key % KEYS] = value;
	return 0;
}

static void *hold(void *arg)
{
	waits = 1;
	bump(held_reply, sizeof(held_reply));
	return arg;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "hold")) {
		sem_init(&inside, 0, 0);
		sem_init(&leave, 0, 0);
		pthread_create(&held, NULL, hold, NULL);
		sem_wait(&inside);
		snprintf(reply, size, "held");
	} else if (!strcmp(request, "leave")) {
		sem_post(&leave);
		pthread_join(held, NULL);
		snprintf(reply, size, "%s", held_reply);
	} else {
		bump(reply, size);
	}
}
