// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - calls exec again and again, until there is a file "calm"

#include <pthread.h>
#include <unistd.h>

#include "serve.h"

#define THREADS 4
#define LIFE_US 4000

static void *run(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, run, NULL);
	if (access("calm", F_OK) != 0) {
		alarm(300);
		usleep(LIFE_US);
		execv("/proc/self/exe", argv);
	}
	serve();
	return 0;
}
