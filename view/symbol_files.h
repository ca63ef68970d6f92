/* SPDX-License-Identifier: GPL-3.0-or-later */
/* symbol_files.h - the names of new code, for debuggers and profilers */
#ifndef USPL_VIEW_SYMBOL_FILES_H
#define USPL_VIEW_SYMBOL_FILES_H

#include "view/debug_dirs.h"
#include "view/scan.h"

/*
 * The process's new functions as perf reads them from /tmp/perf-PID.map: start and size in hex,
 * name and update.
 */
void symbols_perf(const struct scan *scan, struct buf *out);
/*
 * An ELF file with the same functions at their addresses, their code, their call frame information
 * and, of updates whose debug files are in the folders, their debugging information: for gdb's
 * add-symbol-file. There must be one process in the scan.
 */
int symbols_elf(const struct scan *scan, const struct debug_dirs *dirs, struct buf *out,
		struct uspl_err *err) uspl_must_check;
/* The same of a process that is dead, by its core dump. */
int symbols_core(const char *path, const struct debug_dirs *dirs, struct buf *out,
		 struct uspl_err *err) uspl_must_check;

#endif
