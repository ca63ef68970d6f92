/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shstk.h - user shadow stacks (CET): whether a thread has one, and its pointer, read and put back
 *
 * Where a thread has one, each ret compares its return address with the one that its call has left
 * there, and rt_sigreturn wants to find what a signal's delivery leaves there; the kernel kills a
 * thread for which they differ (Linux 6.6, Documentation/arch/x86/shstk.rst). So the tool
 * never lets such a thread return to anything but what it was called from: its runs are traced, not
 * detached (carrier.h), and return addresses on its stacks are left alone.
 */
#ifndef USPL_PROC_SHSTK_H
#define USPL_PROC_SHSTK_H

#include "proc/proc.h"

/* True if threads of this machine can have one: kernel and processor offer it. Asked once. */
bool shstk_offered(void);
/* The pointer of a thread that the tool has stopped; false if it has no shadow stack. */
bool shstk_read(pid_t tid, uint64_t *ret_ssp);
/* Puts the pointer back, in a stop of a thread that was taken out of a call made for the tool. */
int shstk_write(pid_t tid, uint64_t ssp, struct uspl_err *err) uspl_must_check;
/* True if a thread of the process has one, as far as that can be read. */
bool shstk_in_process(const struct proc *proc);

#endif
