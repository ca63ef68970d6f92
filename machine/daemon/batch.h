/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.h - an uspl-apply at work on some processes, and what it says of them
 *
 * It is a process of its own, with its own memory and its own way to be interrupted: it brings what
 * it does to a target to an end whatever becomes of the watch.
 */
#ifndef USPL_MACHINE_DAEMON_BATCH_H
#define USPL_MACHINE_DAEMON_BATCH_H

#include "base/buf.h"
#include "base/cli.h"
#include "base/error.h"
#include "machine/outcome.h"

struct batch {
	pid_vec pids;
	pid_t child; /* 0: there is none */
	int fd;      /* its stdout; readable when it has said something, or ended */
	struct buf text;
};

/* Begins with what is enabled, for these pids, which the batch takes over. */
int batch_start(struct batch *batch, pid_vec *pids, struct uspl_err *err) uspl_must_check;
/* Takes what it has said. True when it has ended, and all is there. */
bool batch_read(struct batch *batch);
/* outcome_each of what it has said; what it points to lasts as long as the call. */
void batch_each(const struct batch *batch, void (*take)(const struct outcome *outcome, void *ctx),
		void *ctx);
/* Frees what it holds; waits for the child if it hasn't ended. */
void batch_release(struct batch *batch);

#endif
