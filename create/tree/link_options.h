/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_options.h - the words by which a linker was called, and what they say about names */
#ifndef USPL_CREATE_TREE_LINK_OPTIONS_H
#define USPL_CREATE_TREE_LINK_OPTIONS_H

#include "base/types.h"

/*
 * The first word at or behind p, "" at the end: blanks and commas separate them. *len is its
 * length.
 */
const char *link_options_next(const char *p, size_t *len);

/* In the following, options may be NULL: there are none. */

/* Was the linker given a script by which it lays sections out? */
bool link_options_have_script(const char *options);
/* Do references to that name mean __wrap_NAME (--wrap)? NULL: those to any name? */
bool link_options_wrap(const char *options, const char *name);
/*
 * Does a library call its own functions by their names, whatever else is called so
 * (-Bsymbolic-functions)? -Bsymbolic itself isn't meant: the library's file says that.
 */
bool link_options_bind_functions(const char *options);

#endif
