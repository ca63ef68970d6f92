/* SPDX-License-Identifier: GPL-3.0-or-later */
/* types.h - the types that every part uses */
#ifndef USPL_BASE_TYPES_H
#define USPL_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An address in the target process. Never a pointer of ours: it can't be dereferenced by mistake.
 */
typedef uint64_t taddr;

/*
 * What mappings are made of, in bytes (x86-64: AMD64 Architecture Programmer's Manual, volume 2,
 * 5.3).
 */
#define PAGE 4096ull

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Every function that can fail is marked with this. */
#define uspl_must_check __attribute__((warn_unused_result))

/* printf-like: FMT and ARGS are the argument numbers of the format and of the first value. */
#define uspl_printf(fmt, args) __attribute__((format(printf, fmt, args)))

#endif
