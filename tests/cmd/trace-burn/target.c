// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - burns processor time in functions that say themselves how much, and makes system calls
// that it counts

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#define THREADS 4
#define DEPTH 20

void burn(int units), often(void), seldom(void), deeper(int depth), ask_kernel(long n),
	look_in_vain(long n), napper(long n);
long heap_up(long levels, int units);

static volatile unsigned long sink;

static long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

KEPT void burn(int units)
{
	for (int i = 0; i < units * 100000; i++)
		sink += i;
}

KEPT void often(void)
{
	burn(3);
	sink++;
}

KEPT void seldom(void)
{
	burn(1);
	sink++;
}

KEPT void deeper(int depth)
{
	if (depth)
		deeper(depth - 1);
	else
		burn(1);
	sink++;
}

/* For so many milliseconds of this thread's time; what share of it `often` took, in percent. */
static long shares(long ms)
{
	long start = cpu_ns(), in_often = 0, in_seldom = 0;

	while (cpu_ns() - start < ms * 1000000) {
		long from = cpu_ns(), between;

		often();
		between = cpu_ns();
		seldom();
		in_often += between - from;
		in_seldom += cpu_ns() - between;
	}
	return 100 * in_often / (in_often + in_seldom);
}

static void *shares_in_thread(void *arg)
{
	*(long *)arg = shares(*(long *)arg);
	return NULL;
}

static long shares_in_threads(long ms)
{
	pthread_t threads[THREADS];
	long values[THREADS], sum = 0;

	for (int i = 0; i < THREADS; i++) {
		values[i] = ms;
		pthread_create(&threads[i], NULL, shares_in_thread, &values[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += values[i];
	}
	return sum / THREADS;
}

static long descend(long ms)
{
	long start = cpu_ns();

	while (cpu_ns() - start < ms * 1000000)
		deeper(DEPTH);
	return ms;
}

KEPT void look_in_vain(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)open("/nonexistent", O_RDONLY);
}

/* So many levels of at least 4 KB, then `burn`, or a moment's sleep. */
KEPT long heap_up(long levels, int units)
{
	volatile char room[4096];
	struct timespec nap = { 0, 400000000 };

	room[0] = room[sizeof(room) - 1] = (char)levels;
	if (levels > 1)
		return heap_up(levels - 1, units) + room[0];
	if (units)
		burn(units);
	else
		nanosleep(&nap, NULL);
	return room[sizeof(room) - 1];
}

static long heap_ms(long levels)
{
	long start = cpu_ns();

	while (cpu_ns() - start < 200000000)
		heap_up(levels, 1);
	return levels;
}

static void *heap_in_thread(void *arg)
{
	*(long *)arg = heap_ms(*(long *)arg);
	return NULL;
}

static long heap_in_thread_of(long levels)
{
	pthread_t thread;

	pthread_create(&thread, NULL, heap_in_thread, &levels);
	pthread_join(thread, NULL);
	return levels;
}

/* System calls with numbers that nothing else in this program makes. */
KEPT void ask_kernel(long n)
{
	int fd = open("/dev/null", O_RDONLY);
	struct timespec nap = { 0, 2000000 };

	for (long i = 0; i < n; i++) {
		sink += (unsigned long)getppid();
		lseek(fd, i, SEEK_SET);
	}
	nanosleep(&nap, NULL);
	close(fd);
}

KEPT void napper(long n)
{
	struct timespec nap = { 0, 2000000 };

	for (long i = 0; i < n; i++) {
		nanosleep(&nap, NULL);
		sink++;
	}
}

/* Runs code that has just been loaded. */
static long burn_in_library(void)
{
	void *library = dlopen("./libburn.so", RTLD_NOW);
	void (*run)(void) = NULL;

	if (library)
		*(void **)&run = dlsym(library, "burn_in_library");
	if (!run)
		return 0;
	run();
	return 1;
}

/* A child that makes the calls, and isn't the process that is observed. */
static long ask_in_child(long n)
{
	int status = 1;
	pid_t child = fork();

	if (!child) {
		ask_kernel(n);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status ? 0 : n;
}

static void *ask_in_thread(void *arg)
{
	ask_kernel(*(long *)arg);
	return NULL;
}

static long ask_in_threads(long n)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask_in_thread, &n);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return THREADS * n;
}

void answer(const char *request, char *reply, size_t size)
{
	long n = 0;

	sscanf(request, "%*s %ld", &n);
	if (!strncmp(request, "burn ", 5))
		n = shares(n);
	else if (!strncmp(request, "threads ", 8))
		n = shares_in_threads(n);
	else if (!strncmp(request, "deep ", 5))
		n = descend(n);
	else if (!strncmp(request, "kernel ", 7))
		ask_kernel(n);
	else if (!strncmp(request, "askers ", 7))
		n = ask_in_threads(n);
	else if (!strncmp(request, "child ", 6))
		n = ask_in_child(n);
	else if (!strncmp(request, "naps ", 5))
		napper(n);
	else if (!strncmp(request, "heap ", 5))
		n = heap_ms(n);
	else if (!strncmp(request, "thread-heap ", 12))
		n = heap_in_thread_of(n);
	else if (!strncmp(request, "sleep-heap ", 11))
		n = heap_up(n, 0) != 0;
	else if (!strncmp(request, "once-heap ", 10))
		n = heap_up(n, 1) != 0;
	else if (!strncmp(request, "library ", 8))
		n = burn_in_library();
	else if (!strncmp(request, "missing ", 8))
		look_in_vain(n);
	snprintf(reply, size, "%ld", n);
}
