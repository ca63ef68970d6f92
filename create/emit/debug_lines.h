/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines.h - the lines of a unit's debugging information, as they are in the patched text */
#ifndef USPL_CREATE_EMIT_DEBUG_LINES_H
#define USPL_CREATE_EMIT_DEBUG_LINES_H

#include "create/tree/lines_map.h"
#include "create/unit/dbginfo.h"

/*
 * The compiler counts the lines of patched sources by directives (create/tree/lines.h); debuggers
 * are to show the text. Rewrites the sections of a unit's object: its table of lines, and the lines
 * of its declarations. A number that doesn't fit where the other one stood, which is so for some
 * declarations, stays. So does all of what the compiler wrote in a form that isn't known here.
 */
int debug_lines_restore(struct dbginfo *dbg, const lines_map *map, struct objfile *file,
			struct uspl_err *err) uspl_must_check;

#endif
