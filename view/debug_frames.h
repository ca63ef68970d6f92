/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_frames.h - the call frame information of new code, as debuggers take it */
#ifndef USPL_VIEW_DEBUG_FRAMES_H
#define USPL_VIEW_DEBUG_FRAMES_H

#include "base/buf.h"
#include "base/types.h"

/*
 * Appends to a section .debug_frame what a section .eh_frame says that lies at addr in a process.
 * There an .eh_frame counts from itself to code within 2 GB, and a debugger takes one of them;
 * updates of a program and of a library lie further apart. A .debug_frame has whole addresses.
 * Entries that can't be read are left out.
 */
void debug_frames_add(const struct buf *eh_frame, taddr addr, struct buf *out);

#endif
