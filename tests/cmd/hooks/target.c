// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - what hooks change: a limit, a pair of numbers that threads look at all the time, a
// log of what has run

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

#define WORKERS 4

KEPT int sum(int waits);
KEPT void note(const char *word);
KEPT void *grown(size_t size);
KEPT void wait_in_sum(void);

static int limit = 8;
static struct {
	volatile int a, b;
} pair = { 3, 7 };
static char log_text[512];
static struct {
	volatile int of;
} factor = { 2 };
static void (*volatile on_call)(const char *) = note;

static atomic_long torn;
static atomic_bool quit;
static pthread_t workers[WORKERS];
static volatile sig_atomic_t faults;

/* Adds a word to the log. */
void note(const char *word)
{
	size_t len = strlen(log_text), more = strlen(word);

	if (len + more + 2 > sizeof(log_text))
		return;
	if (len)
		log_text[len++] = ' ';
	memcpy(log_text + len, word, more + 1);
}

void *grown(size_t size)
{
	return malloc(size);
}

void wait_in_sum(void)
{
	char line[LINE_SIZE];

	puts("inside");
	fflush(stdout);
	next_line(line);
}

/* 0 unless somebody has changed one of the two in between. The threads are elsewhere at times. */
int sum(int waits)
{
	int a = pair.a;

	if (waits)
		wait_in_sum();
	return a + pair.b - 10;
}

static void *work(void *unused)
{
	(void)unused;
	while (!quit) {
		if (sum(0))
			torn++;
		for (volatile int i = 0; i < 2000; i++)
			;
	}
	return NULL;
}

static void on_fault(int signal)
{
	(void)signal;
	faults++;
}

static void start_workers(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], &attr, work, NULL);
	pthread_attr_destroy(&attr);
}

static void stop_workers(void)
{
	quit = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	quit = false;
}

void answer(const char *request, char *reply, size_t size)
{
	int a, b;

	if (!strcmp(request, "limit"))
		snprintf(reply, size, "%d", limit);
	else if (!strncmp(request, "limit ", 6))
		limit = atoi(request + 6);
	else if (!strcmp(request, "hold"))
		snprintf(reply, size, "%d", sum(1));
	else if (!strcmp(request, "work"))
		start_workers();
	else if (!strcmp(request, "rest"))
		stop_workers();
	else if (!strcmp(request, "torn"))
		snprintf(reply, size, "%ld", (long)torn);
	else if (!strcmp(request, "pair"))
		snprintf(reply, size, "%d %d", pair.a, pair.b);
	else if (sscanf(request, "pair %d %d", &a, &b) == 2)
		pair.a = a, pair.b = b;
	else if (!strcmp(request, "log"))
		snprintf(reply, size, "%s", log_text);
	else if (!strcmp(request, "watch"))
		signal(SIGSEGV, on_fault);
	else if (!strcmp(request, "fault"))
		raise(SIGSEGV);
	else if (!strcmp(request, "faults"))
		snprintf(reply, size, "%d", (int)faults);
	else if (!strcmp(request, "factor"))
		snprintf(reply, size, "%d", factor.of);
	else if (!strcmp(request, "call"))
		on_call("called");
}
