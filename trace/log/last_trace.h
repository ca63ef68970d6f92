/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * last_trace.h - traces of processes that are over, as their keepers have saved them
 *
 * A file for each process, PID-STARTTIME.trace, in a folder that root alone can read. One that
 * another user owns, or may write to, counts for nothing. It is made
 * when tracing starts, empty, and held with a lock by the keeper (trace_keep.h), which writes it
 * when the process is over. The folder is bounded by age, number and size.
 */
#ifndef USPL_TRACE_LOG_LAST_TRACE_H
#define USPL_TRACE_LOG_LAST_TRACE_H

#include "proc/proc.h"

/* Unless the environment has another one, in USPL_TRACES. */
#define LAST_TRACES_DIR "/var/lib/uspl/traces"
/* Older, more and larger ones are removed, the oldest first, when a trace is started. */
#define LAST_TRACES_DAYS 7
#define LAST_TRACES_MAX 64
#define LAST_TRACES_BYTES (1ull << 30)

/*
 * Makes the file of a process that lives, in place of an older one, and locks it. *ret_watch gets
 * something to read when the file is removed (inotify).
 */
int last_trace_create(const struct proc *proc, int *ret_fd, int *ret_watch,
		      struct uspl_err *err) uspl_must_check;
/*
 * The youngest trace of a process with that pid that is over. One that is being written is waited
 * for. USPL_E_NOT_APPLIED: there is none, and err stays as it was.
 */
int last_trace_find(pid_t pid, char **ret_path, struct uspl_err *err) uspl_must_check;
/* True if a process that couldn't be opened, or isn't traced (-code), may be over. */
bool last_trace_may_be(int rc);
/* Removes the file of a process that lives: its keeper ends. */
void last_trace_forget(const struct proc *proc);
/* Calls fn for each trace of a process that is over, the youngest first. */
int last_traces_for_each(void (*fn)(void *ctx, const char *path), void *ctx,
			 struct uspl_err *err) uspl_must_check;

#endif
