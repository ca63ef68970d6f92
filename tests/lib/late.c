// SPDX-License-Identifier: GPL-3.0-or-later
// late.c - a library for LD_PRELOAD: when the program has asked threads to stop LATE times, it is
// told of each further one only LATE_FOR milliseconds (1300) later that it stands still, as on a
// machine that is busy

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static int64_t asked_ms, late_for = 1300;
static int in_time; /* so many are yet */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((constructor)) static void begin(void)
{
	const char *from = getenv("LATE"), *length = getenv("LATE_FOR");

	in_time = from ? atoi(from) : 0;
	if (length)
		late_for = atoi(length);
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	long pid, addr, data;
	va_list args;

	va_start(args, request);
	pid = va_arg(args, long);
	addr = va_arg(args, long);
	data = va_arg(args, long);
	va_end(args);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_INTERRUPT && --in_time < 0)
		asked_ms = now_ms();
	return real(request, pid, addr, data);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	if (options & WNOHANG && options & __WALL && in_time < 0 && now_ms() < asked_ms + late_for)
		return 0;
	return wait4(pid, status, options, NULL);
}
