// SPDX-License-Identifier: GPL-3.0-or-later
// parallel.c - jobs that don't depend on each other, on all processors

#include "base/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/sysinfo.h>

#define THREADS_MAX 64

struct pool {
	pthread_mutex_t lock; /* of next */
	size_t next, n;
	void (*job)(size_t index, void *ctx);
	void *ctx;
};

static void *work(void *arg)
{
	struct pool *pool = arg;
	size_t index;

	for (;;) {
		pthread_mutex_lock(&pool->lock);
		index = pool->next;
		if (index < pool->n)
			pool->next++;
		pthread_mutex_unlock(&pool->lock);
		if (index >= pool->n)
			return NULL;
		pool->job(index, pool->ctx);
	}
}

void parallel_run(size_t n, void (*job)(size_t index, void *ctx), void *ctx)
{
	struct pool pool = { .n = n, .job = job, .ctx = ctx };
	size_t processors = (size_t)get_nprocs(), started = 0;
	pthread_t threads[THREADS_MAX];

	pthread_mutex_init(&pool.lock, NULL);
	/* The caller is one of them. */
	while (started + 1 < n && started + 1 < processors && started < THREADS_MAX &&
	       pthread_create(&threads[started], NULL, work, &pool) == 0)
		started++;
	work(&pool);
	while (started)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&pool.lock);
}
