/* SPDX-License-Identifier: GPL-3.0-or-later */
/* give_back.h - pages of code that are again what the file has go back to it */
#ifndef USPL_TEXT_GIVE_BACK_H
#define USPL_TEXT_GIVE_BACK_H

#include "proc/module.h"

/*
 * A page of code that a tool has written to is the process's own from then on, also when it has its
 * old bytes again. Those of the module that equal its file, byte for byte, are given up by a thread
 * of the target (MADV_DONTNEED), and are the file's as before. Pages that differ stay: an update, a
 * probe or a debugger has changed them. No other tool may be at work there (proc_lock.h), and
 * proc->maps must be up to date. Where the file can't be read, or is another one, nothing is done;
 * a failure is noted in the log, since what can't be given back does no harm.
 */
void give_back_code(struct proc *proc, const struct module *module);

#endif
