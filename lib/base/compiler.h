/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiler.h - what a program is, by its name: a compiler, a linker, or one that runs compilers
 *
 * A launcher (ccache, distcc) is given a compiler's command line as its arguments, or is found in
 * PATH under a compiler's name and runs the next one of that name.
 */
#ifndef USPL_BASE_COMPILER_H
#define USPL_BASE_COMPILER_H

#include <stdbool.h>

/* True for the name of a compiler or linker: "gcc", "x86_64-linux-gnu-g++-12", "ld.gold". */
bool compiler_is_tool(const char *name);
/* True for the name of a launcher. */
bool compiler_is_launcher(const char *name);
/* True if the file is a launcher, whatever its name. */
bool compiler_is_disguise(const char *path);

/*
 * The first file of that name in the folders of `path` that isn't a launcher in disguise. NULL if
 * there is none, or when out of memory; the caller frees it.
 */
char *compiler_search(const char *path, const char *name);

#endif
