/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work.h - the functions that are patched, and those that are compared with them
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdint.h>

/* The patch changes it. */
uint64_t work(uint64_t n);

/* The same work in a function that stays as it is. */
uint64_t work_unpatched(uint64_t n);

/* A direct jump to work_unpatched: what a patched call has to cost. */
uint64_t work_through_jump(uint64_t n);

#endif
