/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phase.h - running a build under the compiler wrapper */
#ifndef USPL_CREATE_BUILD_PHASE_H
#define USPL_CREATE_BUILD_PHASE_H

#include "base/types.h"

struct build_options;
struct build_paths;
struct uspl_err;

/* A command of a build. */
struct phase {
	const char *name; /* "pre", "post" or "ship" */
	const char *command;
	const char *what; /* "building before the patch" */
	bool quiet;       /* failures aren't shown */
	bool twice;       /* as in struct recipe */
	bool settled;     /* what decides how the tree is configured is as it was */
	bool configured;  /* and the step that configures it would make nothing anew */
	/* Set where the command fails, which is no failure then; NULL: it is one. */
	bool *ret_failed;
	const char *failed; /* what a failure is called; NULL: the build's usual sentence */
};

/*
 * Runs a shell command in the copy, its output going to WORK/build-PHASE.log. If it fails, the end
 * of its output is shown on standard error, unless quiet. Reports to options->progress.
 */
int phase_run(const struct build_paths *paths, const struct build_options *options,
	      const struct phase *phase, struct uspl_err *err) uspl_must_check;

#endif
