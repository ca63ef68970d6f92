/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mcount_name.h - the functions that compilers have every function call, for a profiler (gcc -pg,
 * -mfentry)
 */
#ifndef USPL_ARCH_MCOUNT_NAME_H
#define USPL_ARCH_MCOUNT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define MCOUNT_NAMES 3

/* The i-th of their names. */
const char *mcount_name(size_t i);
/* True if it is one of them. */
bool is_mcount_name(const char *name);

#endif
