/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gmon.h - where the profiler of a program that was built with -pg keeps what it has counted
 *
 * Its table of arcs is full of return addresses that no thread will return to.
 */
#ifndef USPL_SAFETY_GMON_H
#define USPL_SAFETY_GMON_H

#include "proc/proc.h"

/*
 * Where the table of arcs lies, from *ret_start to *ret_end; both 0 if there is none. It is found
 * by the profiler's parameters (struct gmonparam of <sys/gmon.h>, glibc), which lie among a
 * module's initialised variables. A profiler that has been switched off keeps its table.
 */
void gmon_find(const struct proc *proc, const mapping_vec *maps, taddr *ret_start, taddr *ret_end);

#endif
