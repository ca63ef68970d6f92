// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - threads in calls of a function of the program and one of a library, which call each
// other

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "serve.h"

#define THREADS_MAX 16
#define OLD 1
#define NEW 10

static pthread_t threads[THREADS_MAX];
static int n_threads;
static atomic_bool stop, go;
static atomic_int mixed, holding;

/* Called by the library, too: the depth of the calls of both. */
KEPT int outer(int depth)
{
	while (depth < 0 && !go) {
		holding = 1;
		usleep(1000);
	}
	usleep(2000);
	return depth > 0 ? 1 + inner(depth - 1) : 1;
}

static int call(int depth)
{
	int sum = outer(depth), calls = depth < 0 ? 1 : depth + 1;

	mixed += sum != calls * OLD && sum != calls * NEW;
	return sum / calls;
}

static void *work(void *arg)
{
	int depth = (int)(uintptr_t)arg, found;

	while (!stop) {
		call(depth);
		found = inner(0);
		mixed += found != OLD && found != NEW;
		usleep(500);
	}
	return NULL;
}

static void *stay(void *unused)
{
	(void)unused;
	call(-1);
	return NULL;
}

void answer(const char *request, char *reply, size_t size)
{
	int n = 0;

	if (sscanf(request, "run %d", &n) == 1) {
		while (n_threads < n) {
			void *depth = (void *)(uintptr_t)(n_threads * 3 % 8);

			pthread_create(&threads[n_threads++], NULL, work, depth);
		}
	} else if (!strcmp(request, "stay")) {
		go = holding = false;
		pthread_create(&threads[n_threads++], NULL, stay, NULL);
		while (!holding)
			usleep(1000);
	} else if (!strcmp(request, "go")) {
		go = true;
		pthread_join(threads[--n_threads], NULL);
	} else if (!strcmp(request, "which")) {
		snprintf(reply, size, "%d", call(3));
		return;
	} else if (!strcmp(request, "end")) {
		stop = true;
		while (n_threads)
			pthread_join(threads[--n_threads], NULL);
	}
	snprintf(reply, size, "%d mixed", mixed);
}
