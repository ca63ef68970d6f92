/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_names.h - what the threads of a traced process are called */
#ifndef USPL_TRACE_LOG_THREAD_NAMES_H
#define USPL_TRACE_LOG_THREAD_NAMES_H

#include "proc/proc.h"
#include "trace/log/saved_io.h"

struct thread_name {
	pid_t tid; /* as the process knows it, as records do */
	char *name;
};

typedef VEC(struct thread_name) thread_names;

/* The names of the threads that live now, in place of those in ret; as they may be shown. */
int thread_names_read(const struct proc *proc, thread_names *ret,
		      struct uspl_err *err) uspl_must_check;
void thread_names_release(thread_names *names);
/* In a saved trace. */
void thread_names_put(struct buf *out, const thread_names *names);
void thread_names_get(struct saved_cursor *in, thread_names *names);

#endif
