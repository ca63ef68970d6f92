/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.h - a process that is dead, as its core dump has it */
#ifndef USPL_PROC_CORE_H
#define USPL_PROC_CORE_H

#include "proc/proc.h"

/*
 * Opens a core dump (ELF64, x86-64) as a process whose memory and maps can be read, and nothing
 * else; its pid is 0, so that no living process is taken for it. Memory that the process could
 * write to isn't there, since records of updates, code and call frame information lie elsewhere.
 * USPL_E_FORMAT: it is no core dump. USPL_E_FILE: it is damaged, or was cut off.
 */
int core_open(const char *path, struct proc **ret, struct uspl_err *err) uspl_must_check;

#endif
