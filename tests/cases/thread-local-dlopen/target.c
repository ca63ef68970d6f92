// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - opens the library at the first request

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"

static void (*greet)(const char *who, char *reply, size_t size);

static void *in_thread(void *reply)
{
	greet("thread", reply, LINE_SIZE);
	return NULL;
}

static void open_library(void)
{
	void *library = dlopen("libgreet.so", RTLD_NOW);

	if (library)
		*(void **)&greet = dlsym(library, "greet");
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;

	if (!greet)
		open_library();
	if (!greet) {
		snprintf(reply, size, "no library: %s", dlerror());
	} else if (!strcmp(request, "main")) {
		greet("main", reply, size);
	} else {
		pthread_create(&thread, NULL, in_thread, reply);
		pthread_join(thread, NULL);
	}
}
