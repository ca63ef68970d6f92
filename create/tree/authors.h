/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * authors.h - where docs/authors.md says how the author of a patch goes on from a refusal
 *
 * Each refusal of uspl-create names one of these places (`make lint` holds that they are there). A
 * step that can tell names it first; what its callers would say then is no longer asked.
 */
#ifndef USPL_CREATE_TREE_AUTHORS_H
#define USPL_CREATE_TREE_AUTHORS_H

#include "base/error.h"

#define AUTHORS_REFUSALS "docs/authors.md#from-a-refusal-to-an-update"
#define AUTHORS_VARIABLES "docs/authors.md#variables"
#define AUTHORS_LAYOUTS "docs/authors.md#layouts"
#define AUTHORS_CONSTANTS "docs/authors.md#constants"
#define AUTHORS_START "docs/authors.md#what-runs-at-the-start"
#define AUTHORS_CLASSES "docs/authors.md#virtual-functions"
#define AUTHORS_WHICH "docs/authors.md#which-is-which"
#define AUTHORS_NAMES "docs/authors.md#names"
#define AUTHORS_TABLES "docs/authors.md#tables-of-the-linker"
#define AUTHORS_PLACES "docs/authors.md#places-within-functions"
#define AUTHORS_CODE "docs/authors.md#code-that-cant-be-taken-apart"
#define AUTHORS_HOOKS "docs/authors.md#what-may-be-called"
#define AUTHORS_UNSEEN "docs/authors.md#code-that-no-compiler-was-seen-to-make"
#define AUTHORS_BUILD "docs/authors.md#patch-and-build"
#define AUTHORS_PROGRAM "docs/authors.md#the-program-is-another-one"

/* Adds the place to a refusal that has none yet, and hands the code on. Failures need none. */
static inline int authors_say(int rc, struct uspl_err *err, const char *page)
{
	if (rc && err && !err->page && rc != -USPL_E_CANCELLED &&
	    uspl_code_status(rc) == USPL_STATUS_REFUSED)
		err->page = page;
	return rc;
}

#endif
