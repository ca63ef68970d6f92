// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - two threads load and unload a library each, all the time; the main one greets

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

static atomic_ulong turns, wrong;
static atomic_int end;
static pthread_t threads[2];

void greet(char *reply, size_t size);

KEPT void greet(char *reply, size_t size)
{
	snprintf(reply, size, "hello, %s", "world");
}

static void *come_and_go(void *name)
{
	while (!end) {
		void *library = dlopen(name, RTLD_NOW);
		int (*triple)(int) = library ? (int (*)(int))dlsym(library, "triple") : NULL;

		if (!triple || triple(14) != 42)
			wrong++;
		turns++;
		if (library)
			dlclose(library);
	}
	return NULL;
}

static unsigned long stop(void)
{
	end = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return wrong;
}

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "start"))
		snprintf(reply, size, "%d",
			 pthread_create(&threads[0], NULL, come_and_go, "./one.so") ||
				 pthread_create(&threads[1], NULL, come_and_go, "./other.so"));
	else if (!strcmp(request, "turns"))
		snprintf(reply, size, "%s", turns > 100 ? "many" : "few");
	else if (!strcmp(request, "stop"))
		snprintf(reply, size, "%lu wrong", stop());
	else
		greet(reply, size);
}
