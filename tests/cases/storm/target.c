// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - storms of threads and of signals, all of which call the function

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define BREEDERS 3
#define SIGNAL_NS 500000

KEPT int version(void);

int version(void)
{
	return 1;
}

static atomic_long births, signals, amiss;
/* The version that all must see; 0 while it may be either. */
static atomic_int wanted;

static void look(void)
{
	int want = wanted, have = version();

	if (want && have != want && want == wanted)
		amiss++;
}

static void on_signal(int sig)
{
	(void)sig;
	look();
	signals++;
}

static void *live_short(void *arg)
{
	look();
	births++;
	return arg;
}

static void *breed(void *arg)
{
	pthread_t thread;

	for (;;)
		if (pthread_create(&thread, NULL, live_short, NULL) == 0)
			pthread_join(thread, NULL);
	return arg;
}

static void start(void)
{
	struct itimerspec every = { { 0, SIGNAL_NS }, { 0, SIGNAL_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	pthread_t thread;
	timer_t timer;

	/* What is interrupted starts again, so that the requests are read. */
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART },
		  NULL);
	for (int i = 0; i < BREEDERS; i++)
		pthread_create(&thread, NULL, breed, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
}

/* All see that version, a hundred births and signals long. */
static void watch(int version_wanted, char *reply, size_t size)
{
	long from_births = births, from_signals = signals;

	wanted = version_wanted;
	while (births < from_births + 100 || signals < from_signals + 100)
		usleep(1000);
	snprintf(reply, size, "%ld amiss", amiss);
	wanted = 0;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		start();
	else
		watch(atoi(request), reply, size);
}
