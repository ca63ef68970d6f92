/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lacking.h - files that a diff changes, but the tree lacks */
#ifndef USPL_CREATE_PATCH_LACKING_H
#define USPL_CREATE_PATCH_LACKING_H

#include "create/patch/sections.h"

struct uspl_err;

/* Is a file that the tree lacks a source, or what sources or the build's files are made of? */
bool lacking_matters(const char *tree, const char *name);
/*
 * Finds out if what a diff changes in a source that the tree lacks can be left out. If the build
 * may have a use for it, that is refused (USPL_E_UNSUPPORTED); *ret_leave_out stays false where
 * nothing is known of names.
 */
int lacking_check(const char *tree, const char *diff, const char *name,
		  const section_list *sections, bool *ret_leave_out,
		  struct uspl_err *err) uspl_must_check;

#endif
