// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - forks children that look at what their code is

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve.h"

static atomic_int children, wrong;

KEPT int one(void);
KEPT int two(void);

int one(void)
{
	return 1;
}

int two(void)
{
	return 1;
}

/* Nobody switches a child: both functions are of one kind, now and ever after. */
static int look(void)
{
	int first = one();

	for (int i = 0; i < 1000; i++)
		if (one() != first || two() != first)
			return 1;
	return 0;
}

static void *bear(void *arg)
{
	for (;;) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			alarm(10);
			_exit(look());
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			wrong++;
		children++;
	}
	return arg;
}

static void *spin(void *arg)
{
	for (;;) {
		one();
		two();
		for (volatile int i = 0; i < 1000; i++)
			;
	}
	return arg;
}

void answer(const char *request, char *reply, size_t size)
{
	pthread_t thread;
	int from = children;

	if (!strcmp(request, "start")) {
		pthread_create(&thread, NULL, bear, NULL);
		pthread_create(&thread, NULL, spin, NULL);
	}
	while (children < from + 3)
		usleep(100);
	snprintf(reply, size, "%d wrong, %d", wrong, one());
}
