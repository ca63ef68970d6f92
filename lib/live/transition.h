/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transition.h - when everything may switch, and the switch
 *
 * apply and undo are the same transition in two directions. It goes through these states;
 * everything that can fail for another reason than a busy thread is done before the first stop:
 *
 *     PREPARE   sites read and checked, unwinder ready, code to be emptied known
 *               failure: nothing has changed
 *     STOP      the back end brings all threads to a standstill
 *               failure: all are let go, nothing has changed
 *     CHECK     every stack is looked at
 *               busy: all are let go; when the threads in the way have left, STOP again
 *     SWITCH    state SWITCHING_*, all sites, state APPLIED or UNDONE
 *               failure: put back, let go
 *     RESUME    all threads go on
 *
 * The back end is a table of functions (struct transition_backend), so that a way that stops fewer
 * threads can take the place of the full stop without apply or undo knowing.
 */
#ifndef USPL_LIVE_TRANSITION_H
#define USPL_LIVE_TRANSITION_H

#include "live/region.h"
#include "live/safety.h"
#include "proc/module.h"

enum transition_direction { TRANSITION_ON, TRANSITION_OFF };

struct transition {
	const struct proc *proc;
	const module_vec *modules;
	struct region **regions; /* all of one update, n_regions of them */
	size_t n_regions;
	enum transition_direction direction;
	double wait_s; /* how long to go on trying while a function is busy */
};

struct transition_result {
	/* From asking the first thread to stop to the last one let go, in the last attempt. */
	double stop_us;
	int attempts;
};

/*
 * Runs the transition. On success the regions' states and, when switching on, applied_at and order
 * are written in the target and in the structures. USPL_E_BUSY names the thread, the function and
 * the call chain. USPL_E_UNSTOPPABLE, USPL_E_OVERWRITTEN, USPL_E_TRACED: nothing has changed.
 * USPL_E_STRANDED: some sites could not be put back.
 */
int transition_run(const struct transition *transition, struct transition_result *ret,
		   struct uspl_err *err) uspl_must_check;

#endif
