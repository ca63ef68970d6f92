/* SPDX-License-Identifier: MIT */
/* memory.h - copying, also from where perhaps nothing is */
#ifndef USPL_RUNTIME_LISTEN_MEMORY_H
#define USPL_RUNTIME_LISTEN_MEMORY_H

#include <stddef.h>

#include "runtime/listen/call_ctx.h"

/* What the compiler may make of copies and loops. */
HIDDEN void *memcpy(void *to, const void *from, size_t n);
HIDDEN void *memset(void *to, int value, size_t n);

/*
 * Copies up to len bytes that may be unreadable, page by page; returns how many could be read. 0
 * where a seccomp filter might forbid the system call.
 */
HIDDEN uint64_t memory_copy_safely(void *to, uint64_t from, uint64_t len);

#endif
