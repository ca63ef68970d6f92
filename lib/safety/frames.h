/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.h - new code and the unwinder of the program itself
 *
 * A C++ exception, pthread_cancel() and backtrace() go from frame to frame by call frame
 * information. The program's unwinder (libgcc) finds that of modules by itself, that of other code
 * only if it was registered. In a process without libgcc nothing would ask.
 */
#ifndef USPL_SAFETY_FRAMES_H
#define USPL_SAFETY_FRAMES_H

#include "image/image.h"
#include "proc/module.h"

/* Which processes without an unwinder that can be told are refused. */
enum frames_need {
	FRAMES_OPTIONAL,   /* none */
	FRAMES_IF_UNWOUND, /* one that has another unwinder: exceptions pass through this code */
	FRAMES_NEEDED,     /* any: this code handles exceptions */
};

/*
 * A section of call frame information, and the member `frames` of the record that it belongs to.
 * The thread that tells the unwinder writes that member: 1 while the section is known. libgcc ends
 * a program that takes back what it doesn't know, so this must be true whenever a tool dies.
 */
struct frames {
	taddr section, noted;
	const struct image *program; /* the program's, where the caller has it; else it is read */
};

/*
 * Registers the section, if the process has an unwinder; *ret_told says so. USPL_E_UNSUPPORTED: it
 * has none that can be told, but needs one. USPL_E_BUSY: for some seconds no thread was at a place
 * where it can be called.
 */
int frames_register(struct proc *proc, const module_vec *modules, const struct frames *frames,
		    enum frames_need need, bool *ret_told, struct uspl_err *err) uspl_must_check;
/* Takes the section back before it is unmapped, if it is noted as known. */
int frames_forget(struct proc *proc, const module_vec *modules, const struct frames *frames,
		  struct uspl_err *err) uspl_must_check;

#endif
