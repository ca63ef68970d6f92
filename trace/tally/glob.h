/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glob.h - functions by patterns of their names */
#ifndef USPL_TRACE_TALLY_GLOB_H
#define USPL_TRACE_TALLY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if the pattern matches one of a function's names: of each the one that the linker knows and
 * the one that people write count, with parameters or without.
 */
bool glob_matches_any(const char *glob, const char *const *names, size_t n);

/*
 * True if a symbol is that function of the C library: by its name, also with the marks that the
 * library has for its own use of it ("__GI___sigprocmask", "pthread_mutex_lock@@GLIBC_2.2.5").
 */
bool glob_is_function(const char *symbol, const char *name);

#endif
