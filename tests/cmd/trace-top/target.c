// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - calls that can be counted, calls that go on until they are released, and a name that
// would act on a terminal

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

#define KEPT __attribute__((noinline, noclone))

static volatile long sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_t holder;
static int held, released;

void leaf(long n), parent(long n), wait_here(void), first(void), second(void), odd(void);

/* Clears the screen, if it is printed as it is. */
void odd_name(void) __asm__("\"odd\033[2Jname\"");

KEPT void leaf(long n)
{
	sink += n;
}

KEPT void parent(long n)
{
	for (long i = 0; i < n; i++)
		leaf(i);
	sink++;
}

KEPT void odd_name(void)
{
	sink++;
}

KEPT void wait_here(void)
{
	pthread_mutex_lock(&lock);
	held = 1;
	pthread_cond_broadcast(&news);
	while (!released)
		pthread_cond_wait(&news, &lock);
	pthread_mutex_unlock(&lock);
}

KEPT void first(void)
{
	wait_here();
	sink++;
}

KEPT void second(void)
{
	first();
	sink++;
}

static void *hold(void *arg)
{
	second();
	return arg;
}

static void begin_holding(void)
{
	held = released = 0;
	pthread_create(&holder, NULL, hold, NULL);
	pthread_mutex_lock(&lock);
	while (!held)
		pthread_cond_wait(&news, &lock);
	pthread_mutex_unlock(&lock);
}

static void release(void)
{
	pthread_mutex_lock(&lock);
	released = 1;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&lock);
	pthread_join(holder, NULL);
}

void answer(const char *request, char *reply, size_t size)
{
	long n = 0;

	sscanf(request, "%*s %ld", &n);
	if (!strncmp(request, "work ", 5))
		parent(n);
	else if (!strncmp(request, "odd ", 4))
		for (long i = 0; i < n; i++)
			odd_name();
	else if (!strncmp(request, "hold", 4))
		begin_holding();
	else if (!strncmp(request, "release", 7))
		release();
	else if (!strncmp(request, "end", 3))
		exit(0);
	snprintf(reply, size, "%ld", n);
}
