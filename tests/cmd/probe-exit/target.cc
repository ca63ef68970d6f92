// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - functions that return, throw, are left by longjmp, and end in one another

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

extern "C" {
#include "serve.h"

long leaf(long x), middle(long x), outer(long x), leaver(long x), catcher(long x), waiter(long x),
	held(volatile int *words);
}

static std::jmp_buf back;
static volatile int words[2];
static pthread_t holder;

/* The odd ones throw. */
extern "C" KEPT long leaf(long x)
{
	asm volatile("" ::: "memory");
	if (x & 1)
		throw std::runtime_error("odd");
	return 10 * x;
}

/* Both end in a jump. */
extern "C" KEPT long middle(long x)
{
	asm volatile("" ::: "memory");
	return leaf(x + 1);
}

extern "C" KEPT long outer(long x)
{
	asm volatile("" ::: "memory");
	return middle(x + 1);
}

extern "C" KEPT long leaver(long x)
{
	if (x)
		std::longjmp(back, 1);
	return x;
}

extern "C" KEPT long catcher(long x)
{
	try {
		return outer(x) + 1;
	} catch (const std::runtime_error &) {
		return -1;
	}
}

/* Stays inside until the next line has come. */
extern "C" KEPT long waiter(long x)
{
	char line[LINE_SIZE];

	next_line(line);
	return x + 1;
}

/* A user's program may stay at its entry until the first word is set, and set the second one itself. */
extern "C" KEPT long held(volatile int *which)
{
	asm volatile("" ::: "memory");
	return 7l * which[0] + which[1];
}

static void *page;

/* What reads from the page has to wait until it may. */
static void wait_for_page(int)
{
	words[1] = 1;
	while (!words[0])
		sched_yield();
	mprotect(page, 4096, PROT_READ);
}

static void *hold(void *)
{
	std::signal(SIGSEGV, wait_for_page);
	page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	held(static_cast<volatile int *>(page));
	return nullptr;
}

static long leave(long n)
{
	volatile long left = 0;

	for (volatile long i = 0; i < n; i = i + 1)
		if (setjmp(back))
			left = left + 1;
		else
			leaver(1);
	return left + leaver(0);
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	long n = 0, sum = 0;

	std::sscanf(request, "%*s %ld", &n);
	if (!std::strncmp(request, "catch ", 6))
		for (long i = 0; i < n; i++)
			sum += catcher(i);
	else if (!std::strncmp(request, "leave ", 6))
		sum = leave(n);
	else if (!std::strncmp(request, "wait ", 5))
		sum = waiter(n);
	else if (!std::strncmp(request, "hold", 4)) {
		pthread_create(&holder, nullptr, hold, nullptr);
		while (!words[1])
			sched_yield();
	} else if (!std::strncmp(request, "release", 7)) {
		words[0] = 1;
		pthread_join(holder, nullptr);
	}
	std::snprintf(reply, size, "%ld", sum);
}
