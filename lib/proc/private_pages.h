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

#define PRIVATE_RUN_MAX 512

/* What is known of pages that lie one behind the other. Zero-initialise it. */
struct private_run {
	taddr from;
	size_t n;
	bool own[PRIVATE_RUN_MAX];
};

/*
 * Where it is kept whether the page of addr is the process's alone. If that isn't known yet, n
 * pages from there on are asked about at once, as far as there is room.
 */
bool *private_page(struct private_run *run, const struct proc *proc, taddr addr, size_t n);
/* Which are copies of a file's pages, that children of fork may share. Doubt is "no". */
void private_pages_copied(const struct proc *proc, taddr addr, size_t n, bool *ret_copied);

#endif
