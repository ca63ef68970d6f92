// SPDX-License-Identifier: GPL-3.0-or-later
// sleep_time.c - how long threads have been asleep
/*
 * A thread of the tool's goes from processor to processor and reads there when it last ran itself,
 * which is now. On a processor that real-time threads keep for themselves it would wait for ever.
 * So it isn't the thread that does the work, and is called back after some time.
 */

#include "thread/sleep_time.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "proc/task.h"

#define PATIENCE_NS 1000000000ll
/* By how much such a clock may be faster than CLOCK_MONOTONIC: a part of the time measured. */
#define SLEW 1000

/*
 * What follows the colon behind a field's name in the text of a sched file; NULL if it isn't there.
 */
static const char *sched_field(const struct buf *text, const char *name)
{
	const char *line = strstr(buf_str(text), name), *colon = line ? strchr(line, ':') : NULL;

	return colon ? colon + 1 : NULL;
}

/* The moment at which the thread last ran, in ns; -1 if it isn't told. */
static int64_t exec_start(const struct buf *text)
{
	const char *value = sched_field(text, "se.exec_start");
	long long ms, part;

	/* Milliseconds with six decimals (SPLIT_NS in kernel/sched/debug.c). */
	return value && sscanf(value, "%lld.%6lld", &ms, &part) == 2 ? ms * 1000000 + part : -1;
}

static bool read_sched(const struct proc *proc, pid_t tid, struct buf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/sched", proc->pid, tid);
	return file_read(path, text, NULL) == 0;
}

bool sleep_time_preempted(const struct proc *proc, pid_t tid, uint64_t *ret)
{
	auto_buf struct buf text = { 0 };
	const char *value =
		read_sched(proc, tid, &text) ? sched_field(&text, "nr_involuntary_switches") : NULL;

	if (value)
		*ret = strtoull(value, NULL, 10);
	return value;
}

bool sleep_time_read(const struct proc *proc, struct sleep_time *sleep_time)
{
	auto_buf struct buf sched = { 0 };

	sleep_time->slept_ns = -1;
	sleep_time->cpu = task_processor(proc, sleep_time->tid);
	if (sleep_time->cpu < 0 || !read_sched(proc, sleep_time->tid, &sched))
		return false;
	sleep_time->began_ns = exec_start(&sched);
	/* 0: the thread has been moved to another processor and not run there yet. */
	return sleep_time->began_ns > 0 && sleep_time->cpu < CPU_SETSIZE;
}

/* The thread that goes round. */
struct round {
	struct sleep_time *sleep_times;
	size_t n;
	sem_t done;
	pid_t tid; /* its id, once it runs */
	bool seen[CPU_SETSIZE];
	volatile bool stop; /* it is called back */
};

static void measure_on(struct round *round, int cpu)
{
	auto_buf struct buf text = { 0 };
	int64_t now = -1, as_of;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0 &&
	    file_read("/proc/thread-self/sched", &text, NULL) == 0)
		now = exec_start(&text);
	as_of = clock_now_ns();
	for (size_t i = 0; i < round->n && !round->stop && now >= 0; i++) {
		struct sleep_time *sleep_time = &round->sleep_times[i];

		if (sleep_time->cpu != cpu || now < sleep_time->began_ns)
			continue;
		sleep_time->slept_ns = now - sleep_time->began_ns;
		sleep_time->slept_ns -= sleep_time->slept_ns / SLEW;
		sleep_time->as_of_ns = as_of;
	}
}

static void *go_round(void *arg)
{
	struct round *round = arg;

	__atomic_store_n(&round->tid, gettid(), __ATOMIC_RELEASE);
	for (size_t i = 0; i < round->n && !round->stop; i++) {
		int cpu = round->sleep_times[i].cpu;

		if (!round->seen[cpu])
			measure_on(round, cpu);
		round->seen[cpu] = true;
	}
	sem_post(&round->done);
	return NULL;
}

void sleep_times_measure(struct sleep_time *sleep_times, size_t n)
{
	struct round round = { .sleep_times = sleep_times, .n = n };
	int64_t until = clock_now_ns() + PATIENCE_NS;
	struct timespec deadline = { until / 1000000000, until % 1000000000 };
	pthread_t thread;
	cpu_set_t all;
	pid_t tid;

	if (!n)
		return;
	sem_init(&round.done, 0, 0);
	if (pthread_create(&thread, NULL, go_round, &round) == 0) {
		if (sem_clockwait(&round.done, CLOCK_MONOTONIC, &deadline) != 0) {
			tid = __atomic_load_n(&round.tid, __ATOMIC_ACQUIRE);
			memset(&all, 0xff, sizeof(all));
			round.stop = true;
			/* It comes back from a processor where it waits in vain. */
			if (tid)
				sched_setaffinity(tid, sizeof(all), &all);
		}
		pthread_join(thread, NULL);
	}
	sem_destroy(&round.done);
}
