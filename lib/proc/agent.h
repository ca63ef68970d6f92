/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agent.h - the agent's code in its place in a target: for the files of inject.h and host.h */
#ifndef USPL_PROC_AGENT_H
#define USPL_PROC_AGENT_H

#include "proc/inject.h"

#define AGENT_MAX 256

struct inject_agent {
	const struct proc *proc;
	taddr addr;
	size_t len;
	uint8_t saved[AGENT_MAX]; /* what was in the slack */
	bool kept;                /* a thread could not be brought out of it */
	/*
	 * Another tool has left an agent, in this place or another one, and there may be a thread in
	 * it that writes to its slate: ours might be the same.
	 */
	bool haunted;
	tid_vec guests;    /* threads that were sent into it and have not been seen outside */
	struct host *sent; /* the one that inject_end is to wait for */
};

/* Before a thread is sent into it. */
int agent_note_guest(struct inject_agent *agent, pid_t tid, struct uspl_err *err) uspl_must_check;

#endif
