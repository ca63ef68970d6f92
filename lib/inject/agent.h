/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agent.h - the agent's code in its place in a target: for the files of inject.h and carrier.h */
#ifndef USPL_INJECT_AGENT_H
#define USPL_INJECT_AGENT_H

#include "inject/inject.h"

/*
 * Room for its code; and for its code with the way back of a thread that has a shadow stack, and
 * the words for that.
 */
#define AGENT_MAX 256
#define AGENT_BACK_MAX 512

struct inject_agent {
	const struct proc *proc;
	taddr addr;
	size_t len;
	bool leads_back; /* a thread with a shadow stack finds back, too (agent_note_back) */
	uint8_t saved[AGENT_BACK_MAX]; /* what was in the padding */
	bool kept;                     /* a thread could not be brought out of it */
	/*
	 * Agents that other tools have left, in this place or another one: a thread in one may
	 * write to its result page, and this agent's might be the same.
	 */
	inject_left_vec left;
	tid_vec carriers; /* threads that were sent into it and have not been seen outside */
};

/* To be called before a thread is sent into it. */
int agent_note_carrier(struct inject_agent *agent, pid_t tid, struct uspl_err *err) uspl_must_check;
/*
 * To be called before a thread with a shadow stack runs in it: notes what it needs to find back by
 * itself. CARRIER_UNFIT if there is no room for that way, or a thread of a tool that has died may
 * be on it.
 */
int agent_note_back(const struct inject_agent *agent, const struct agent_back *back,
		    struct uspl_err *err) uspl_must_check;
/* True if a thread that blocks these signals can't be told, by that, from one in the agent. */
bool agent_hides(uint64_t sigmask);
/*
 * True if a thread that doesn't hide has been seen outside, by the signals that it blocks; or has
 * ended.
 */
bool agent_shows_outside(const struct inject_agent *agent, pid_t tid);
/* True if pc is in the agent's code, or in one that another tool has left. */
bool agent_has(const struct inject_agent *agent, taddr pc);
/* USPL_E_BUSY as long as a thread is in the agent of another tool that has died. */
int agent_require_alone(const struct inject_agent *agent, struct uspl_err *err) uspl_must_check;

#endif
