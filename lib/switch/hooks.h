/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hooks.h - the hooks of an update, in the phases of its transition (include/uspl/abi.h)
 *
 * Hooks that run beside the program's threads are called in one of them, at a place where functions
 * of the program may be called (safe_call.h); those of a standstill in one of the threads that
 * stand. A thread counts in the record each hook that it has run. What is said of apply goes for
 * undo.
 */
#ifndef USPL_SWITCH_HOOKS_H
#define USPL_SWITCH_HOOKS_H

#include "switch/transition.h"

struct run;

/* True if hooks have to run while all threads stand still. */
bool hooks_want_standstill(const struct transition *t);
/* The phase that the regions are in, the latest one if a tool has died on its way to it. */
enum uspl_hook_kind hooks_phase(struct region *const *regions, size_t n);

/*
 * Runs the hooks that may refuse before anything is done; USPL_E_HOOK if one does, or fails. The
 * caller goes on with hooks_end in any case. Does nothing where the apply hooks' turn has come
 * already, in a run of a tool that has died.
 */
int hooks_begin(struct run *run, struct uspl_err *err) uspl_must_check;
/*
 * At a standstill, when no thread is in the way: asks the hooks that may refuse, and when all agree
 * runs those that act. USPL_E_HOOK as above.
 */
int hooks_act(struct run *run, struct uspl_err *err) uspl_must_check;
/*
 * With all threads running again, rc being what has come of the transition: after a success the
 * hooks that follow it, else those that take back. Returns rc, or USPL_E_STRANDED with err's
 * message completed if hooks have changed something and nothing has taken that back.
 */
int hooks_end(const struct run *run, int rc, struct uspl_err *err) uspl_must_check;
/*
 * Completes what a tool that has died left to do with all threads running: the hooks that take back
 * or follow. The phase isn't one of a standstill.
 */
int hooks_settle(const struct transition *t, struct uspl_err *err) uspl_must_check;

/* Frees the entries of a log. */
void hook_log_release(hook_log *log);

#endif
