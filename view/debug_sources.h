/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_sources.h - the sources of new code, for debuggers */
#ifndef USPL_VIEW_DEBUG_SOURCES_H
#define USPL_VIEW_DEBUG_SOURCES_H

#include "update/debug_file.h"

/*
 * True if the tree from which an update was made, as it lies there now, lacks one of the patched
 * sources, or has it as it was before.
 */
bool debug_sources_differ(const struct debug_file *file);
/*
 * Makes a folder with the patched sources at their places in the tree. All else of the folders in
 * which they are is there as links into the tree, if that is there.
 */
int debug_sources_write(const struct debug_file *file, const char *folder,
			struct uspl_err *err) uspl_must_check;

#endif
