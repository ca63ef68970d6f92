/* SPDX-License-Identifier: GPL-3.0-or-later */
/* demangle.h - the names of C++ as people write them */
#ifndef USPL_BASE_DEMANGLE_H
#define USPL_BASE_DEMANGLE_H

#include "base/types.h"

/*
 * "_ZN3Foo3barEi" -> "Foo::bar(int)", any other name as it is, but as text_add_printable writes it.
 * The caller's; NULL: no memory.
 */
char *demangle_name(const char *name);
/*
 * The same without the version that a library's own symbol table may have behind a name, which is
 * for linkers: "dlsym@GLIBC_2.2.5" -> "dlsym".
 */
char *demangle_symbol(const char *name);
/* And without parameters: "_ZN3Foo3barEi" -> "Foo::bar". */
char *demangle_bare(const char *name);
/* How long the name is without its version. */
size_t demangle_stem_len(const char *name);
/*
 * demangle_name for every name in a text that stands in quotes, 'like this', or in quotes behind a
 * file's name. The caller's; NULL: no memory.
 */
char *demangle_text(const char *text);
/* The same in place. A text that wouldn't fit into size bytes stays as it was. */
void demangle_message(char *text, size_t size);

#endif
