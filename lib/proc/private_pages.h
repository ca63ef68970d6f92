/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private_pages.h - which pages of a process it shares with no file and no other process
 */
#ifndef USPL_PROC_PRIVATE_PAGES_H
#define USPL_PROC_PRIVATE_PAGES_H

#include "proc/proc.h"

/*
 * Which of n pages from addr on are the process's alone, so that the kernel needn't copy them when
 * they are written to. Doubt is "no". 50 ns a page.
 */
void private_pages(const struct proc *proc, taddr addr, size_t n, bool *ret_private);
/* Which are copies of a file's pages, that children of fork may share. Doubt is "no". */
void private_pages_copied(const struct proc *proc, taddr addr, size_t n, bool *ret_copied);

#endif
