// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - locks that are held and waited for, signals that are blocked, and a pool of threads,
// for as long and as often as the request says

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

#define WORKERS 2

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, queue_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
int own_lock;

void hold(long us), hold_for(long us), waiter(void), block_signals(long us);
int own_take(int *lock), own_give(int *lock);
void enqueue(int *item), run_item(int *item);
static volatile long sink;

KEPT void hold_for(long us)
{
	usleep((useconds_t)us);
	sink++;
	pthread_mutex_unlock(&mutex);
	sink++;
}

KEPT void hold(long us)
{
	pthread_mutex_lock(&mutex);
	hold_for(us);
	sink++;
}

static void *hold_in_thread(void *us)
{
	hold((long)us);
	return NULL;
}

KEPT void waiter(void)
{
	pthread_mutex_lock(&mutex);
	sink++;
	pthread_mutex_unlock(&mutex);
	sink++;
}

/* Another thread holds it for so long; we wait for that. */
static void contend(long us)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold_in_thread, (void *)us);
	while (pthread_mutex_trylock(&mutex) == 0) {
		pthread_mutex_unlock(&mutex);
		usleep(100);
	}
	waiter();
	pthread_join(thread, NULL);
}

/* Waits with a time-out: meanwhile it doesn't hold the mutex. */
static void wait_for(long us)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += us * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &until);
	pthread_mutex_unlock(&mutex);
}

static void other_locks(long us)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	usleep((useconds_t)us);
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	usleep((useconds_t)us);
	pthread_spin_unlock(&spin);
}

KEPT int own_take(int *lock)
{
	while (__sync_lock_test_and_set(lock, 1))
		sink++;
	return 0;
}

KEPT int own_give(int *lock)
{
	__sync_lock_release(lock);
	sink++;
	return 0;
}

KEPT void block_signals(long us)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	usleep((useconds_t)us);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	sink++;
}

/* The pool. */
static int *queue[1024], items[1024];
static unsigned first, last, done;
static long item_us;

KEPT void enqueue(int *item)
{
	pthread_mutex_lock(&queue_mutex);
	queue[last++ % 1024] = item;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&queue_mutex);
}

KEPT void run_item(int *item)
{
	usleep((useconds_t)item_us);
	++*item;
	__sync_fetch_and_add(&done, 1);
}

static void *work(void *arg)
{
	(void)arg;
	for (;;) {
		int *item;

		pthread_mutex_lock(&queue_mutex);
		while (first == last)
			pthread_cond_wait(&cond, &queue_mutex);
		item = queue[first++ % 1024];
		pthread_mutex_unlock(&queue_mutex);
		run_item(item);
	}
	return NULL;
}

/* n items at once; back when all have been run. */
static void run_pool(long n, long us)
{
	static int begun;
	pthread_t thread;
	unsigned want = done + (unsigned)n;

	item_us = us;
	for (; begun < WORKERS; begun++)
		pthread_create(&thread, NULL, work, NULL);
	for (long i = 0; i < n; i++)
		enqueue(&items[i]);
	while (__sync_fetch_and_add(&done, 0) != want)
		usleep(100);
}

void answer(const char *request, char *reply, size_t size)
{
	char word[LINE_SIZE] = "";
	long n = 0, us = 0;

	sscanf(request, "%s %ld %ld", word, &n, &us);
	if (!strcmp(word, "hold"))
		hold(n);
	else if (!strcmp(word, "contend"))
		contend(n);
	else if (!strcmp(word, "wait"))
		wait_for(n);
	else if (!strcmp(word, "others"))
		other_locks(n);
	else if (!strcmp(word, "own")) {
		own_take(&own_lock);
		usleep((useconds_t)n);
		own_give(&own_lock);
	} else if (!strcmp(word, "block"))
		block_signals(n);
	else if (!strcmp(word, "pool"))
		run_pool(n, us);
	snprintf(reply, size, "%ld", n);
}
