/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top_screen.h - the table on a terminal, with keys */
#ifndef USPL_TRACE_TOP_TOP_SCREEN_H
#define USPL_TRACE_TOP_TOP_SCREEN_H

#include "base/error.h"

struct top;

/*
 * Shows the rows and does what keys say until one of them ends it, or the process or the terminal
 * is gone. USPL_E_UNSUPPORTED: there is no ncurses, or it doesn't know the terminal.
 */
int top_screen_run(struct top *top, struct uspl_err *err) uspl_must_check;

#endif
