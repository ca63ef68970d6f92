/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - threads that watch over what a stop could disturb */
#ifndef USPL_TESTS_WATCH_H
#define USPL_TESTS_WATCH_H

#include <stdatomic.h>

/* What has been found amiss, the last of it; NULL if nothing. */
extern _Atomic(const char *) amiss;
/* How often each of the watchers has been round. */
extern atomic_long signal_rounds, blocked_rounds, tick_rounds, register_rounds, vector_rounds,
	birth_rounds;

/* Starts all of them. */
void watch_start(void);
/*
 * Starts the one of vectors.c, which takes the two kinds of signals as little as its creator does.
 */
void vectors_start(void);

#endif
