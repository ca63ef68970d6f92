/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.h - new code and the unwinder of the program itself
 *
 * A C++ exception, pthread_cancel() and backtrace() go from frame to frame by call frame
 * information. The program's unwinder (libgcc) finds that of modules by itself, that of other code
 * only if it was registered. A process without libgcc has nobody who would ask.
 */
#ifndef USPL_APPLY_FRAMES_H
#define USPL_APPLY_FRAMES_H

#include "live/region.h"
#include "proc/module.h"

/*
 * Registers a loaded region's eh_frame, if the process has an unwinder; does nothing to one that is
 * registered. `needed`: the new code handles exceptions, so that a process without an unwinder is
 * refused. USPL_E_BUSY: for some seconds no thread was at a place where it can be called.
 */
int frames_register(struct proc *proc, const module_vec *modules, struct region *region,
		    bool needed, struct uspl_err *err) uspl_must_check;
/* Takes a registered region's eh_frame back, before the region is unmapped. */
int frames_forget(struct proc *proc, const module_vec *modules, struct region *region,
		  struct uspl_err *err) uspl_must_check;

#endif
