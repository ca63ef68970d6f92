/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ehframe.h - where functions begin, by a module's call frame information */
#ifndef USPL_PROC_EHFRAME_H
#define USPL_PROC_EHFRAME_H

#include "match/image.h"
#include "proc/module.h"

/*
 * Adds the beginnings of all functions, and of parts of functions that lie apart (.cold), that the
 * module's .eh_frame_hdr lists, to image->starts, sorted. A module without one, or with one that is
 * encoded in another way than linkers do, adds none: that is no failure.
 */
int ehframe_add_starts(const struct proc *proc, const struct module *module, struct image *image,
		       struct uspl_err *err) uspl_must_check;

#endif
