/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tracefs.h - the kernel's description of its tracepoints
 */
#ifndef USPL_PERF_TRACEFS_H
#define USPL_PERF_TRACEFS_H

#include <stdint.h>

#include "base/error.h"

/*
 * The id of a tracepoint ("raw_syscalls", "sys_enter"), which perf_event_open takes in attr.config.
 * tracefs is read where it is mounted; where it isn't, it is opened without mounting it anywhere
 * (fsopen, since Linux 5.2), so that nothing has to be prepared. USPL_E_FILE or USPL_E_SYSTEM: the
 * tracepoint can't be read; mostly only root may.
 */
int tracefs_id(const char *system, const char *name, uint64_t *ret,
	       struct uspl_err *err) uspl_must_check;

#endif
