/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h - where docs/authors.md says how the author of a patch goes on from a refusal
 *
 * Each refusal of uspl-create names one of these places (`make lint` holds that they are there). A
 * step that can tell names it first; what its callers would say then is no longer asked.
 */
#ifndef USPL_CREATE_PAGE_H
#define USPL_CREATE_PAGE_H

#include "base/error.h"

#define PAGE_REFUSALS "docs/authors.md#from-a-refusal-to-an-update"
#define PAGE_VARIABLES "docs/authors.md#variables"
#define PAGE_LAYOUTS "docs/authors.md#layouts"
#define PAGE_CONSTANTS "docs/authors.md#constants"
#define PAGE_START "docs/authors.md#what-runs-at-the-start"
#define PAGE_CLASSES "docs/authors.md#virtual-functions"
#define PAGE_WHICH "docs/authors.md#which-is-which"
#define PAGE_NAMES "docs/authors.md#names"
#define PAGE_TABLES "docs/authors.md#tables-of-the-linker"
#define PAGE_PLACES "docs/authors.md#places-within-functions"
#define PAGE_CODE "docs/authors.md#code-that-cant-be-taken-apart"
#define PAGE_HOOKS "docs/authors.md#what-may-be-called"
#define PAGE_UNSEEN "docs/authors.md#code-that-no-compiler-was-seen-to-make"
#define PAGE_BUILD "docs/authors.md#patch-and-build"
#define PAGE_PROGRAM "docs/authors.md#the-program-is-another-one"

/* Adds the place to a refusal that has none yet, and hands the code on. Failures need none. */
static inline int page_say(int rc, struct uspl_err *err, const char *page)
{
	if (rc && err && !err->page && rc != -USPL_E_CANCELLED &&
	    uspl_code_status(rc) == USPL_STATUS_REFUSED)
		err->page = page;
	return rc;
}

#endif
