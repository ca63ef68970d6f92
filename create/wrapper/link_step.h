/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_step.h - the wrapper's links */
#ifndef USPL_CREATE_WRAPPER_LINK_STEP_H
#define USPL_CREATE_WRAPPER_LINK_STEP_H

#include "base/error.h"
#include "create/wrapper/args.h"
#include "create/wrapper/tool.h"

/* Links by a compiler's command line that has no sources left in it, and notes what went in. */
int link_words(const struct tool *tool, const struct args *args, int *ret_status,
	       struct uspl_err *err) uspl_must_check;

/*
 * The output that a linker's own command line names, "a.out" if none. NULL if the command links
 * nothing: --version, --help, and such.
 */
const char *link_output(int argc, const char *const *argv);

#endif
