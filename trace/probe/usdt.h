/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usdt.h - the probes that programs carry in the form of sys/sdt.h (SystemTap, DTrace)
 *
 * Their notes lie in a section that isn't loaded (.note.stapsdt), so they are read from the file.
 */
#ifndef USPL_TRACE_PROBE_USDT_H
#define USPL_TRACE_PROBE_USDT_H

#include "trace/probe/marker.h"

/*
 * Appends the USDT probes of a module as markers "provider:name". A file that can't be read, or
 * isn't the one that was loaded, has none.
 */
int usdt_find(const struct proc *proc, const struct module *module, const struct image *image,
	      struct markers *markers, struct uspl_err *err) uspl_must_check;

#endif
