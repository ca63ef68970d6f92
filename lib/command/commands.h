/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.h - the commands of uspl
 *
 * To add one: a folder with cmd_NAME.c, a line here, a line in the table of uspl/main.c, the
 * folder's name in COMMANDS of the Makefile, a man page docs/man/uspl-NAME.1.md, tests in
 * tests/cmd/NAME.bats.
 *
 * Each takes its own argv (argv[0] is its name) and returns an exit status (enum uspl_status),
 * having printed what it had to, or a negative enum uspl_code with err filled in, which main
 * prints.
 */
#ifndef USPL_COMMAND_COMMANDS_H
#define USPL_COMMAND_COMMANDS_H

#include "base/error.h"

/* From a source diff to an update. */
int cmd_create(int argc, char **argv, struct uspl_err *err);
/* From an update and a process to a patched process. */
int cmd_apply(int argc, char **argv, struct uspl_err *err);
/* The way back. */
int cmd_undo(int argc, char **argv, struct uspl_err *err);
/* Trace the functions of running processes. */
int cmd_trace(int argc, char **argv, struct uspl_err *err);
/* What is applied where; what is in a file. */
int cmd_view(int argc, char **argv, struct uspl_err *err);
/* What this machine allows; what would stop an update of a process. */
int cmd_check_machine(int argc, char **argv, struct uspl_err *err);
/* The updates that this machine is to have: one more, one less, and all of them (machine/). */
int cmd_enable(int argc, char **argv, struct uspl_err *err);
int cmd_disable(int argc, char **argv, struct uspl_err *err);
int cmd_list(int argc, char **argv, struct uspl_err *err);
/* Keys, signatures of updates, and their check (sign/). */
int cmd_keygen(int argc, char **argv, struct uspl_err *err);
int cmd_sign(int argc, char **argv, struct uspl_err *err);
int cmd_verify(int argc, char **argv, struct uspl_err *err);
/* The service that gives them to what is started. */
int cmd_watch(int argc, char **argv, struct uspl_err *err);
/* Brings processes to the versions of packages that are installed or offered. */
int cmd_upgrade(int argc, char **argv, struct uspl_err *err);

#endif
