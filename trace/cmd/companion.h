/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * companion.h - a process that stays with a traced one when the tool that has started it is done
 *
 * It is a program of its own, a subcommand that isn't for users, so that it has none of the memory
 * that the start has taken. It has a pipe to the tool that has started it: what comes there says
 * why it can't do its work; the pipe's end, without a word, that it is ready.
 */
#ifndef USPL_TRACE_CMD_COMPANION_H
#define USPL_TRACE_CMD_COMPANION_H

#include "base/buf.h"

/*
 * Runs this program with the arguments, which end with NULL, and waits until it is ready. False if
 * it is; true if it isn't, and why, if that is known. With USPL_KEEPER=none in the environment none
 * is run.
 */
bool companion_start(const char *const *argv, struct buf *ret_why);
/* What the companion says of itself: "" if it is ready. */
void companion_ready(const char *why);

#endif
