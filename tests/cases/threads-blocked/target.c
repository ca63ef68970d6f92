// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads in every kind of blocking system call

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "serve.h"

#define STACK_SIZE (64 << 10)

static const struct call *const tables[] = { file_calls, socket_calls, wait_calls, queue_calls };

static atomic_int returned, returned_partial;
static _Atomic(const char *) who_returned;
static atomic_int last_errno;

static void *run(void *arg)
{
	const struct call *call = arg;

	for (;;) {
		errno = 0;
		call->block();
		last_errno = errno;
		who_returned = call->name;
		if (call->partial)
			returned_partial++;
		else
			returned++;
		pause();
	}
	return NULL;
}

static void start_thread(const struct call *call)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (pthread_create(&thread, &attr, run, (void *)call) != 0)
		abort();
}

/* Two threads for each call. */
static int start(void)
{
	sigset_t all, before;
	int n = 0;

	make_waits();
	make_files();
	make_sockets();
	make_queues();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct call *call = tables[i]; call->name; call++) {
			start_thread(call);
			start_thread(call);
			n++;
		}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

KEPT const char *text(void);

const char *text(void)
{
	return "old";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		snprintf(reply, size, "%d calls, text %s", start(), text());
	else if (!strcmp(request, "partial"))
		snprintf(reply, size, "%d returned", returned_partial);
	else if (returned)
		snprintf(reply, size, "%d returned, one from %s with '%s'", returned, who_returned,
			 strerror(last_errno));
	else
		snprintf(reply, size, "0 returned, text %s", text());
}
