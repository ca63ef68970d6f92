/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agent.h - the agent's code in its place in a target: for inject.c; inject.h has the functions */
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
};

#endif
