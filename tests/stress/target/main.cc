// SPDX-License-Identifier: GPL-3.0-or-later
// main.cc - starts the workers, and answers on stdin: version, check, progress, dwell, rest

#include "stress.h"

#include <atomic>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static std::atomic<unsigned long> n_wrong, n_disturbed;
static std::atomic<bool> dwell;
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static char first[200];

static struct worker *const lists[] = { signal_workers, birth_workers, stack_workers,
					memory_workers, sleep_workers, ring_workers,
					dwell_workers };

void work_elsewhere(void)
{
	for (volatile int i = 0; i < 2000; i++)
		;
}

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void nap_us(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	if (nanosleep(&time, NULL) != 0)
		disturbed("nanosleep");
}

void doze_us(long us)
{
	int64_t until = now_ns() + us * 1000;
	struct timespec time = { until / 1000000000, until % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

void wrong(const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&first_lock);
	va_start(args, fmt);
	if (!n_wrong++)
		vsnprintf(first, sizeof(first), fmt, args);
	va_end(args);
	pthread_mutex_unlock(&first_lock);
}

static thread_local bool is_disturbed;

bool was_disturbed(void)
{
	bool was = is_disturbed;

	is_disturbed = false;
	return was;
}

void disturbed(const char *call)
{
	is_disturbed = true;
	pthread_mutex_lock(&first_lock);
	if (!n_disturbed++ && !n_wrong)
		snprintf(first, sizeof(first), "%s: EINTR", call);
	pthread_mutex_unlock(&first_lock);
}

bool expect_errno(const char *call, long rc, int expected)
{
	if (rc >= 0 || errno == expected)
		return true;
	if (errno == EINTR)
		disturbed(call);
	else
		wrong("%s: %s", call, strerror(errno));
	return false;
}

void expect_version(const char *who, int answer)
{
	if (answer != 11 && answer != 22)
		wrong("%s: neither old nor new: %d", who, answer);
}

bool dwelling(void)
{
	return dwell;
}

static void *run(void *arg)
{
	struct worker *worker = static_cast<struct worker *>(arg);

	pthread_setname_np(pthread_self(), worker->name);
	worker->run(worker);
	return NULL;
}

static void start_all(void)
{
	pthread_t thread;

	for (struct worker *list : lists)
		for (struct worker *worker = list; worker->run; worker++)
			if (pthread_create(&thread, NULL, run, worker) != 0)
				wrong("cannot start '%s'", worker->name);
}

/* "all", or the name of one that has done nothing since this was asked last. */
static const char *progress(void)
{
	static unsigned long before[64];
	const char *stuck = "all";
	size_t i = 0;

	for (struct worker *list : lists)
		for (struct worker *worker = list; worker->run; worker++, i++) {
			if (worker->done == before[i])
				stuck = worker->name;
			before[i] = worker->done;
		}
	return stuck;
}

int main(void)
{
	char request[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	start_all();
	while (fgets(request, sizeof(request), stdin)) {
		if (!strncmp(request, "version", 7))
			printf("%d\n", both());
		else if (!strncmp(request, "dwell", 5) || !strncmp(request, "rest", 4)) {
			dwell = *request == 'd';
			puts("well");
		} else if (!strncmp(request, "check", 5))
			printf("%lu wrong %lu disturbed %s\n", n_wrong.load(), n_disturbed.load(), first);
		else
			printf("%s\n", progress());
	}
	exit(0);
}
