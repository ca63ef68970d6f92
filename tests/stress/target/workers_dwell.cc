// SPDX-License-Identifier: GPL-3.0-or-later
// workers_dwell.cc - threads that are in the functions most of the time, each call from another
// place of its stack, with handlers that call the functions meanwhile

#include "stress.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>

#define DWELLERS 3
#define SIGNAL (SIGRTMIN + 1)

static __thread volatile int inside; /* what the call answers that goes on */
static pthread_t dwellers[DWELLERS];
static volatile int n_dwellers;

/* In the middle of a call the handler must meet the code that the call is of. */
static void on_signal(int)
{
	int answer = both();

	expect_version("a handler in a call", answer);
	if (inside && answer != inside)
		wrong("a handler in a call of %d meets %d", inside, answer);
}

static KEPT int dwell_from(size_t room, long us, int depth)
{
	volatile char *deeper = static_cast<char *>(alloca(room));

	*deeper = 1;
	return dwells(us, depth, &inside);
}

static void run_dweller(struct worker *self)
{
	struct sigaction action = {};

	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGNAL, &action, NULL);
	dwellers[self - dwell_workers] = pthread_self();
	__sync_fetch_and_add(&n_dwellers, 1);
	for (unsigned int i = 0;; i++) {
		long us = dwelling() ? 500 << i % 5 : 50;

		expect_version("a dweller", dwell_from(64 + i % 7 * 3000, us, (int)(i % 3)));
		self->done = self->done + 1;
		doze_us(dwelling() ? us : 1000);
	}
}

static void run_signals(struct worker *self)
{
	while (n_dwellers < DWELLERS)
		doze_us(1000);
	for (;; self->done = self->done + 1) {
		for (pthread_t dweller : dwellers)
			pthread_kill(dweller, SIGNAL);
		doze_us(3000);
	}
}

WORKERS(dwell_workers) = { { "dweller 1", run_dweller, 0 },
			   { "dweller 2", run_dweller, 0 },
			   { "dweller 3", run_dweller, 0 },
			   { "signals", run_signals, 0 },
			   {} };
