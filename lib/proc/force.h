/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * force.h - writes through protections where the kernel doesn't let every writer of /proc/PID/mem
 * do that
 */
#ifndef USPL_PROC_FORCE_H
#define USPL_PROC_FORCE_H

#include "proc/proc.h"

/*
 * Writes len bytes that are mapped and may not be written, through a thread of the process: one
 * that this thread of ours has stopped, else one that it has attached to, or attaches to for the
 * moment. False if there is no such thread, or if that isn't allowed either; a part may be written
 * then. Blocks signals meanwhile.
 */
bool force_write(const struct proc *proc, taddr addr, const void *buf, size_t len) uspl_must_check;

/*
 * True if the kernel lets every program that may open /proc/PID/mem write through protections. Else
 * a thread that is attached to, and neither stopped nor one that may be stopped (HELD), stands in
 * force_write's way.
 */
bool force_is_free(void);

#endif
