/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main_run.h - what the main functions of uspl and uspl-create have in common */
#ifndef USPL_USPL_MAIN_RUN_H
#define USPL_USPL_MAIN_RUN_H

#include "base/error.h"

/*
 * Does what the command line says, and returns an exit status or a negative code, as commands do
 * (command/commands.h). *ret_prog, a static string, is the name that messages begin with.
 */
typedef int main_fn(int argc, char **argv, const char **ret_prog, struct uspl_err *err);

/* Runs it, prints what failed, and returns the exit status. */
int main_run(main_fn *run, int argc, char **argv);

#endif
