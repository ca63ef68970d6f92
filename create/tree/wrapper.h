/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrapper.h - the compiler wrapper under the names of compilers and linkers */
#ifndef USPL_CREATE_TREE_WRAPPER_H
#define USPL_CREATE_TREE_WRAPPER_H

#include "base/types.h"

struct buf;
struct build_paths;
struct uspl_err;

/*
 * Makes WORK/bin with the wrapper under every compiler's and linker's name in PATH, and the folders
 * for objects, and WORK/include with the header of hooks.
 */
int wrapper_prepare(const struct build_paths *paths, struct uspl_err *err) uspl_must_check;
/* In a child: CC and its like name compilers without their folders. */
void wrapper_rename_variables(void);
/* In a child: ccache and distcc do nothing until the wrapper runs them. */
void wrapper_hold_launchers(void);
/* Appends text with all absolute paths of compilers and linkers changed to those of the wrapper. */
int wrapper_replace_tools(const struct build_paths *paths, const char *text, struct buf *ret,
			  struct uspl_err *err) uspl_must_check;

#endif
