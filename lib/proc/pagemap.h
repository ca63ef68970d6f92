/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pagemap.h - what the kernel says of each page of a process: /proc/PID/pagemap
 * (Documentation/admin-guide/mm/pagemap.rst)
 */
#ifndef USPL_PROC_PAGEMAP_H
#define USPL_PROC_PAGEMAP_H

#include "proc/proc.h"

/*
 * Of a page's entry: it is in memory; it is swapped out. So are, by this, two that aren't there at
 * all: one of which the program waits for writes, and a guard region (MADV_GUARD_INSTALL, Linux
 * 6.13), which has a bit of its own since 6.15.
 */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_OF_FILE (1ull << 61) /* a file's page that the program hasn't written to */
#define PAGEMAP_GUARD (1ull << 58)
#define PAGEMAP_AWAITED (1ull << 57)
#define PAGEMAP_EXCLUSIVE (1ull << 56) /* no other process maps it, as a child of fork would */

/* A descriptor, which the caller closes; -1, with errno, if there is none. */
int pagemap_open(const struct proc *proc);
/*
 * The entries of n pages from that of addr on. Returns how many were read: none of a pagemap that
 * isn't open.
 */
size_t pagemap_read(int pagemap, taddr addr, uint64_t *ret, size_t n);
/*
 * True if addr lies in a guard region, as glibc 2.42 and later have one at the lower end of each
 * thread's stack, within its mapping. Kernels before 6.15 say only that the page is swapped out;
 * then it must be one that can't be read.
 */
bool pagemap_is_guard(int pagemap, const struct proc *proc, taddr addr);

#endif
