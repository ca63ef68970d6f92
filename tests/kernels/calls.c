// SPDX-License-Identifier: MIT
// calls.c - a program to be traced whose calls come and end in all ways: calls FILE
/*
 * Two threads call functions that end in one another (tail calls) and call themselves, one of them
 * from a signal handler, too, and check what comes back. FILE gets a line "N rounds" ever again.
 * Ends with 0 at SIGTERM, with 1 if a result was wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 2
#define NOINLINE __attribute__((noinline, noclone))

static volatile sig_atomic_t ended, handled;
static volatile unsigned long rounds[THREADS];

NOINLINE int last(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int middle(int n)
{
	__asm__ volatile("" : "+r"(n));
	return last(n * 2);
}

NOINLINE int first(int n)
{
	__asm__ volatile("" : "+r"(n));
	return middle(n + 3);
}

NOINLINE int deep(int n)
{
	return n ? deep(n - 1) + first(n) - first(n) + 1 : 0;
}

static void handle(int signal)
{
	(void)signal;
	handled = handled + (first(1) == 9);
}

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static void *work(void *arg)
{
	volatile unsigned long *mine = arg;

	while (!ended) {
		for (int i = 0; i < 100; i++)
			if (first(i) != (i + 3) * 2 + 1 || deep(5) != 5)
				_exit(1);
		if (mine == rounds)
			raise(SIGUSR1);
		++*mine;
		usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 2)
		return 2;
	signal(SIGUSR1, handle);
	signal(SIGTERM, end);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)&rounds[i]) != 0)
			return 2;
	while (!ended) {
		FILE *out = fopen(argv[1], "w");

		if (!out)
			return 2;
		fprintf(out, "%lu rounds\n", rounds[0] < rounds[1] ? rounds[0] : rounds[1]);
		fclose(out);
		usleep(20000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return handled ? 0 : 1;
}
