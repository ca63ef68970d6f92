/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.h - new code and the unwinder of the program itself
 *
 * A C++ exception, pthread_cancel() and backtrace() go from frame to frame by call frame
 * information. The program's unwinder (libgcc) finds that of modules by itself, that of other code
 * only if it was registered. A process without libgcc has nobody who would ask.
 */
#ifndef USPL_LIVE_FRAMES_H
#define USPL_LIVE_FRAMES_H

#include "proc/module.h"

/*
 * Registers the .eh_frame section at `section`, if the process has an unwinder; *ret_told says so.
 * `needed`: what it describes handles exceptions, so that a process without an unwinder is refused.
 * USPL_E_BUSY: for some seconds no thread was at a place where it can be called.
 */
int frames_register(struct proc *proc, const module_vec *modules, taddr section, bool needed,
		    bool *ret_told, struct uspl_err *err) uspl_must_check;
/* Takes a registered section back, before it is unmapped. */
int frames_forget(struct proc *proc, const module_vec *modules, taddr section,
		  struct uspl_err *err) uspl_must_check;

#endif
