// SPDX-License-Identifier: GPL-3.0-or-later
// server.c - a server of 16 threads, and a client of it in another process that says how many
// requests a second were answered
//
// A line on stdin begins a measurement of as many seconds as it says.

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define THREADS 16
#define DEPTH 24
#define WORK 2000

static int ends[THREADS][2];

/* Some microseconds of work, at the end of a chain of calls. */
__attribute__((noipa)) static unsigned long work(int depth, unsigned long x)
{
	if (depth)
		return work(depth - 1, x + 1) + 1;
	for (int i = 0; i < WORK; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

static void *serve(void *arg)
{
	int fd = *(int *)arg;
	unsigned long x;

	while (read(fd, &x, sizeof(x)) == sizeof(x)) {
		x = work(DEPTH, x);
		if (write(fd, &x, sizeof(x)) != sizeof(x))
			break;
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One request is on its way to each thread all the time. Returns how many were answered. */
static long ask(double seconds)
{
	struct pollfd polls[THREADS];
	double end = now() + seconds;
	unsigned long x = 1;
	long n = 0;

	for (int i = 0; i < THREADS; i++)
		polls[i] = (struct pollfd){ .fd = ends[i][1], .events = POLLIN };
	while (now() < end) {
		if (poll(polls, THREADS, 100) <= 0)
			continue;
		for (int i = 0; i < THREADS; i++)
			if (polls[i].revents && read(polls[i].fd, &x, sizeof(x)) == sizeof(x) &&
			    write(polls[i].fd, &x, sizeof(x)) == sizeof(x))
				n++;
	}
	return n;
}

static void be_client(void)
{
	unsigned long first = 1;
	double seconds;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < THREADS; i++)
		if (write(ends[i][1], &first, sizeof(first)) != sizeof(first))
			_exit(1);
	while (scanf("%lf", &seconds) == 1) {
		printf("%.0f\n", (double)ask(seconds) / seconds);
		fflush(stdout);
	}
	kill(getppid(), SIGTERM);
	_exit(0);
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) != 0)
			return 1;
	if (fork() == 0)
		be_client();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, serve, &ends[i][0]) != 0)
			return 1;
	return pthread_join(thread, NULL);
}
