/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - what a linker took, by its own words (-t -t) */
#ifndef USPL_CREATE_WRAPPER_TRACE_H
#define USPL_CREATE_WRAPPER_TRACE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/strvec.h"

/*
 * Reads the standard output of a link with -t -t. Appends to inputs, in the form of record_write.h,
 * the objects and archive members that it took. Lines that name a file and aren't an input (shared
 * libraries, archives, linker scripts) are dropped; all other lines go to rest, since they are what
 * the build wants to see. Understands GNU ld, gold, lld and mold.
 */
int trace_parse(const char *text, strvec *inputs, struct buf *rest,
		struct uspl_err *err) uspl_must_check;

#endif
