// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - leaves the loop to another thread and ends

#include <pthread.h>

#include "serve.h"

static void *run(void *arg)
{
	serve();
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}
