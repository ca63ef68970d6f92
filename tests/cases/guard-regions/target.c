// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - has threads whose stacks begin with a guard region, and greets

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "serve.h"

#define GUARD_INSTALL 102
#define STACK (256 << 10)
#define THREADS 20

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static const char *start(void)
{
	for (int i = 0; i < THREADS; i++) {
		char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		pthread_attr_t attr;
		pthread_t thread;

		if (stack == MAP_FAILED || madvise(stack, 4096, GUARD_INSTALL))
			return "no guard regions";
		/* So that each is a mapping of its own. */
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stack, STACK);
		if (pthread_create(&thread, &attr, sleep_on, NULL))
			return "no thread";
	}
	return "guarded";
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "guard"))
		snprintf(reply, size, "%s", start());
	else
		greet(reply, size);
}
