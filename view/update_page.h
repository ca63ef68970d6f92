/* SPDX-License-Identifier: GPL-3.0-or-later */
/* update_page.h - an update as a page for a browser */
#ifndef USPL_VIEW_UPDATE_PAGE_H
#define USPL_VIEW_UPDATE_PAGE_H

#include "view/scan.h"

/*
 * Appends the page of one update: where it is applied, its patch with old and new source side by
 * side, and each function's instructions before and after. The functions are read from a process
 * that has the update.
 */
int update_page_add(const struct scan_update *update, struct buf *out,
		    struct uspl_err *err) uspl_must_check;

#endif
