// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - counts for each thread: the main one, one that lives on, and short ones

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

static __thread int count;
static sem_t asked, done;
static char *worker_reply;

KEPT void bump(const char *who, char *reply, size_t size);

void bump(const char *who, char *reply, size_t size)
{
	count++;
	snprintf(reply, size, "%s %d", who, count);
}

static void *in_thread(void *reply)
{
	bump("thread", reply, LINE_SIZE);
	return NULL;
}

static void *in_worker(void *arg)
{
	for (;;) {
		sem_wait(&asked);
		bump("worker", worker_reply, LINE_SIZE);
		sem_post(&done);
	}
	return arg;
}

static void ask_worker(char *reply)
{
	static pthread_t worker;

	if (!worker) {
		sem_init(&asked, 0, 0);
		sem_init(&done, 0, 0);
		pthread_create(&worker, NULL, in_worker, NULL);
	}
	worker_reply = reply;
	sem_post(&asked);
	sem_wait(&done);
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;

	if (!strcmp(request, "main")) {
		bump("main", reply, size);
	} else if (!strcmp(request, "worker")) {
		ask_worker(reply);
	} else {
		pthread_create(&thread, NULL, in_thread, reply);
		pthread_join(thread, NULL);
	}
}
