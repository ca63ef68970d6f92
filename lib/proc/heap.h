/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap.h - memory for the work on one process, which the kernel gives at once
 */
#ifndef USPL_PROC_HEAP_H
#define USPL_PROC_HEAP_H

/*
 * Makes room in malloc's heap, with its pages in place (madvise(2), MADV_POPULATE_WRITE). Else each
 * first touch of a page is a fault: a quarter of a microsecond where the processor walks the page
 * tables, 10 to 15 in a virtual machine whose hypervisor does. A process that forks later pays for
 * them again, so this comes after. Without it (Linux before 5.14) all works, with these faults.
 */
void heap_populate(void);

#endif
