/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.h - the two things the wrapper does: compile a source, link objects
 */
#ifndef USPL_CREATE_WRAPPER_STEPS_H
#define USPL_CREATE_WRAPPER_STEPS_H

#include "base/error.h"
#include "create/wrapper/args.h"
#include "create/wrapper/tool.h"

/*
 * `cc -c` with one source or several: compiles each, keeps a copy of its object, and notes it.
 * *ret_status is the compiler's exit status; nothing is noted of a compilation that failed.
 */
int step_compile(const struct tool *tool, const struct args *args, int *ret_status,
		 struct uspl_err *err) uspl_must_check;

/*
 * `cc -S`, and headers to precompile: runs with the options added that `cc -c` will have; notes
 * nothing.
 */
int step_translate(const struct tool *tool, const struct args *args, int *ret_status,
		   struct uspl_err *err) uspl_must_check;

/*
 * `cc` that ends in a link. Its sources, if there are any, are first compiled to saved objects,
 * whose names replace theirs in args.
 */
int step_build(const struct tool *tool, struct args *args, int *ret_status,
	       struct uspl_err *err) uspl_must_check;

/* A linker called by its own name, with argv as it came. */
int link_step(const struct tool *tool, int argc, char **argv, int *ret_status,
	      struct uspl_err *err) uspl_must_check;

#endif
