// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - uses the library, in the main thread and in new ones

#include <pthread.h>
#include <string.h>

#include "greet.h"
#include "serve.h"

__thread int of_program = 300;

static void *in_thread(void *reply)
{
	greet("thread", reply, LINE_SIZE);
	return NULL;
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;

	if (!strcmp(request, "main")) {
		greet("main", reply, size);
		return;
	}
	pthread_create(&thread, NULL, in_thread, reply);
	pthread_join(thread, NULL);
}
