// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - the process whose standstill is measured: target THREADS FILE [WAKERS]
//
// One thread never rests: it calls the function that is going to be patched, reads the clock, and
// keeps the longest gap between two readings in FILE, which others map or read (struct gap). All
// other threads block, each kind of wait in turn, as those of a server do. With THREADS = 1 the
// busy one is alone. WAKERS of them wake up each millisecond, and run a little; the others sleep in
// more kinds of calls then.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <err.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "gap.h"
#include "work.h"

#define LIFETIME_SECONDS 900

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_read(void)
{
	int fds[2];
	char byte;

	if (pipe(fds))
		err(1, "pipe");
	while (read(fds[0], &byte, 1) < 0)
		;
}

static void wait_futex(void)
{
	static uint32_t word;

	for (;;)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* Wakes now and then, as a housekeeping thread does. */
static void wait_nanosleep(void)
{
	const struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };

	for (;;)
		nanosleep(&nap, NULL);
}

static void wait_poll(void)
{
	for (;;)
		poll(NULL, 0, -1);
}

static void wait_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	for (;;)
		epoll_wait(fd, &event, 1, -1);
}

static void wait_select(void)
{
	for (;;)
		select(0, NULL, NULL, NULL, NULL);
}

static void wait_condition(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
}

static void wait_signal(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (;;)
		sigwait(&set, &signal);
}

static void wait_accept(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&(struct sockaddr_un){ AF_UNIX, "" },
		 sizeof(sa_family_t)) ||
	    listen(fd, 1))
		err(1, "cannot listen");
	for (;;)
		accept(fd, NULL, NULL);
}

/* As a worker with something to do a thousand times a second: 20 us of it. */
static void wake_and_run(void)
{
	const struct timespec nap = { .tv_nsec = 1000 * 1000 };

	for (;;) {
		for (uint64_t until = now_ns() + 20000; now_ns() < until;)
			;
		nanosleep(&nap, NULL);
	}
}

static void (*const waits[])(void) = { wait_read, wait_futex, wait_nanosleep, wait_poll,
				       wait_epoll };
/* With WAKERS: in more kinds of calls, none of which ends. */
static void (*const more_waits[])(void) = { wait_read,   wait_futex,  wait_poll,   wait_epoll,
					    wait_select, wait_signal, wait_accept, wait_condition };
static uintptr_t wakers;

static void *block(void *arg)
{
	uintptr_t number = (uintptr_t)arg;

	if (number <= wakers)
		wake_and_run();
	else if (wakers)
		more_waits[number % (sizeof(more_waits) / sizeof(more_waits[0]))]();
	else
		waits[number % (sizeof(waits) / sizeof(waits[0]))]();
	return NULL;
}

/* A processor of its own, the last one: what is measured is the stop, not who else wants to run. */
static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void run_busy(struct gap *gap)
{
	uint64_t last = now_ns();

	for (uint64_t n = 0;; n++) {
		uint64_t now = now_ns();

		if (now - last > gap->longest_ns)
			gap->longest_ns = now - last;
		last = now;
		gap->result = work(n);
		gap->calls = n;
	}
}

int main(int argc, char **argv)
{
	int n = argc == 3 || argc == 4 ? atoi(argv[1]) : 0;
	struct gap *gap;
	int fd;

	if (n < 1)
		errx(2, "usage: target THREADS FILE [WAKERS]");
	wakers = argc == 4 ? (uintptr_t)atoi(argv[3]) : 0;
	alarm(LIFETIME_SECONDS);
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*gap)))
		err(1, "cannot make '%s'", argv[2]);
	gap = mmap(NULL, sizeof(*gap), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (gap == MAP_FAILED)
		err(1, "cannot map '%s'", argv[2]);
	for (int i = 1; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, block, (void *)(uintptr_t)i))
			errx(1, "cannot start thread %d", i);
	}
	pin();
	run_busy(gap);
}
