/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_offsets.h - where the runtime finds what it must know of a thread */
#ifndef USPL_TRACE_ENGINE_THREAD_OFFSETS_H
#define USPL_TRACE_ENGINE_THREAD_OFFSETS_H

#include "proc/task.h"

struct uspl_trace_control;

/*
 * Fills in where the runtime finds a thread's id and its processor, as far as that can be told, and
 * which threads it records: those, or all if there are none. USPL_E_NO_PROCESS: one isn't there.
 * USPL_E_UNSUPPORTED: they are too many, or can't be told apart.
 */
int thread_offsets_find(struct proc *proc, const tid_vec *tids, struct uspl_trace_control *control,
			struct uspl_err *err) uspl_must_check;

#endif
