/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transition.h - when everything may switch, and the switch
 *
 * apply and undo are the same transition in two directions. It goes through these states;
 * everything that can fail for another reason than a busy thread is done before the first stop:
 *
 * An update's hooks (hooks.h) run before the first stop, between CHECK and SWITCH, and after
 * RESUME or a failure.
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
 * The back end is a table of functions (struct transition_backend): apply and undo need not know
 * whether the stop-all way is used or one that stops fewer threads.
 */
#ifndef USPL_SWITCH_TRANSITION_H
#define USPL_SWITCH_TRANSITION_H

#include "proc/module.h"
#include "record/region.h"
#include "safety/blockers.h"

enum transition_direction { TRANSITION_ON, TRANSITION_OFF };

/* A hook that was called. */
struct hook_run {
	char *name;
	enum uspl_hook_kind kind;
	double us;  /* how long it took, with the way there and back */
	bool late;  /* it was ended, since it took too long */
	int signal; /* it was ended by this signal, 0: it wasn't */
	int result; /* else what it returned, if it is asked */
};

typedef VEC(struct hook_run) hook_log;

struct transition {
	struct proc *proc;
	const module_vec *modules;
	struct region **regions; /* all of one update, n_regions of them */
	size_t n_regions;
	/*
	 * On: all live regions of the updates whose place this one takes, oldest first; they are
	 * switched off in the same instant.
	 */
	struct region **replaced;
	size_t n_replaced;
	enum transition_direction direction;
	double wait_s; /* how long to go on trying while a function is busy */
	/*
	 * How long the threads may stand still: when half of it has passed before the switch, they
	 * are let go, and it counts as busy. 0: as long as it takes.
	 */
	double max_pause_s;
	uint64_t scan_bytes; /* how much memory may be searched for inactive stacks (inactive.h) */
	bool stop_all;       /* stop every thread, even if the stopless way is possible */
	/*
	 * Threads may go over one by one (stopless_by_thread.c), even if the update's author
	 * doesn't say so.
	 */
	bool by_thread;
	/*
	 * Where not all have gone over in time, those that have come back. Else it stays so, for
	 * the next command.
	 */
	bool comes_back;
	bool planned; /* for transition_look: the regions aren't in the process */
	/* How long each hook may take that runs beside the threads, and at a standstill. */
	double hook_limit_s, hook_pause_s;
	hook_log *hooks; /* what is called is appended, also if the transition fails; or NULL */
};

struct transition_result {
	/* From the first request to stop to the last thread let go, in the last attempt. */
	double stop_us;
	/*
	 * For how long callers of the functions were held before that, so that all threads could
	 * leave them.
	 */
	double held_us;
	int attempts;
	uint64_t left_out;   /* bytes that scan_bytes was not enough for: they were not searched */
	size_t n_stopped;    /* threads that were stopped in the last attempt */
	const char *backend; /* "quiet" or "full stop" */
};

/* What the transition would meet at this moment. */
struct transition_outlook {
	size_t n_threads;    /* of the process */
	size_t n_stopped;    /* so many of them stood still to be looked at, */
	double stop_us;      /* for so long */
	const char *backend; /* "quiet" or "full stop": what the transition would begin with */
	uint64_t left_out;   /* as in transition_result */
	blocker_vec blockers;
	bool more;     /* there may be more blockers */
	bool too_long; /* the look was broken off: it would have taken more than max_pause_s */
};

/*
 * Looks at all stacks once, in the way that transition_run would take, and stops the threads that
 * it would stop. Nothing changes. Busy threads are no failure; everything else that the transition
 * would refuse is one. The regions may be ones that are only planned (transition.planned). ret is
 * to be released.
 */
int transition_look(const struct transition *transition, struct transition_outlook *ret,
		    struct uspl_err *err) uspl_must_check;
/* Records USPL_E_PAUSE: the threads can't be stopped and looked at in the time that they have. */
int transition_fail_pause(pid_t pid, struct uspl_err *err);
/* Frees what it holds. */
void transition_outlook_release(struct transition_outlook *outlook);
DEFINE_AUTO_RELEASE(outlook, struct transition_outlook, transition_outlook_release)
#define auto_outlook __attribute__((cleanup(cleanup_outlook_)))

/*
 * Runs the transition. On success the regions' states and, when switching on, applied_at and order
 * are written in the target and in the structures; replaced regions are UNDONE. USPL_E_BUSY names
 * the thread, the function and the call chain. USPL_E_UNSTOPPABLE, USPL_E_OVERWRITTEN,
 * USPL_E_TRACED, USPL_E_PAUSE: nothing has changed.
 * USPL_E_HOOK: a hook refuses, or has failed; what hooks did was taken back by hooks.
 * USPL_E_UNFINISHED: some threads have gone over and some have not, for too long; by and by they
 * will. The regions' states say SWITCHING.
 * USPL_E_STRANDED: some sites could not be put back, or what hooks did.
 */
int transition_run(const struct transition *transition, struct transition_result *ret,
		   struct uspl_err *err) uspl_must_check;

#endif
