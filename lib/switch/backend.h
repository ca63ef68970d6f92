/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backend.h - a transition while it runs, and the ways to bring the threads into a state in which
 * it may check and switch
 *
 * Only lib/switch includes this.
 */
#ifndef USPL_SWITCH_BACKEND_H
#define USPL_SWITCH_BACKEND_H

#include "inject/inject.h"
#include "safety/inactive.h"
#include "safety/safety.h"
#include "safety/waiter.h"
#include "switch/transition.h"
#include "text/site.h"
#include "thread/vm_sharers.h"
#include "thread/stop.h"

struct run {
	const struct transition *t;
	struct safety safety; /* what must be empty */
	/*
	 * After a tool that has died both sorts of code must be. This is what is to be left then,
	 * for threads that go over one by one; else it is without ranges.
	 */
	struct safety leaving;
	struct safety passing; /* of that, the trampolines: threads are there for a moment only */
	struct safety_finding findings[WAITER_MAX]; /* threads in the way, by the last check */
	size_t n_findings;
	struct safety_finding busy; /* the first finding of the last attempt that had any */
	int n_busy;                 /* how many attempts had */
	inject_left_vec left;       /* agents of tools that have died: must be empty, too */
	int64_t deadline;           /* CLOCK_MONOTONIC: until when attempts are made */
	int64_t checked_ns;         /* CLOCK_MONOTONIC: when that check was done */
	struct inactive inactive;   /* functions on stacks that no thread is on */
	struct stop stop;           /* of the last attempt */
	struct vm_sharers
		/* processes in the same memory, before the last attempt and in it */
		vm_sharers;
	bool switched;         /* it is done */
	bool patient;          /* they may go over one by one: that threads run often is no end */
	bool by_thread;        /* threads go over one by one: some have, the others will */
	int64_t hold_began_ns; /* CLOCK_MONOTONIC: when callers began to be held, the last time */
	struct site_plan plan; /* the stop-all way's, from open to close */
	struct stopless *stopless;  /* the stopless way's */
	struct inject_agent *agent; /* for hooks at a standstill; in an attempt */
	bool resumed;               /* the apply hooks' turn had come when a tool died */
};

struct transition_backend {
	const char *name; /* "full stop" */
	/*
	 * Everything that can be done, and be refused, while all threads run. close follows.
	 * USPL_E_UNSUPPORTED or USPL_E_OUT_OF_REACH: this back end can't; another one may.
	 */
	int (*open)(struct run *run, struct uspl_err *err);
	/*
	 * Looks at the threads, and switches (run->switched) if none is in the way. All threads go
	 * on before it returns. Not switched, and no failure: run->findings tell which threads are
	 * in the way, or it took too long, and there are none. The failures of open are possible
	 * here, too.
	 */
	int (*attempt)(struct run *run, struct uspl_err *err);
	/*
	 * Holds callers of the functions, so that the threads that are inside, and return now and
	 * then, are all outside at one moment: sp are the stack pointers at their outermost
	 * entries. *ret_held: they are held now, or will be, for as long as stopless_drain says;
	 * not while the threads still have to be given time after the last hold. That time is
	 * longer if it is only guessed that they return. NULL: this back end can't.
	 */
	int (*hold)(struct run *run, const taddr *sp, size_t n, bool guessed, bool *ret_held,
		    struct uspl_err *err);
	/* After the last attempt, with all threads running: does or undoes what is left. */
	int (*finish)(struct run *run, struct uspl_err *err);
	/* Frees what open has made; nothing in the target. */
	void (*close)(struct run *run);
};

/*
 * Every thread is stopped by ptrace (PTRACE_SEIZE and PTRACE_INTERRUPT). Works everywhere; its
 * length grows with the number of threads.
 */
extern const struct transition_backend backend_stop_all;

/*
 * Only the threads that run are stopped, sleepers are looked at where they sleep; all functions
 * switch by one selector in memory (docs/transition.md).
 */
extern const struct transition_backend backend_stopless;

/*
 * The i-th region that goes on or off, those of updates that are replaced last; NULL behind them.
 */
const struct region *backend_region(const struct run *run, size_t i);
/* How long threads may take to stop and be looked at, by the user's wish or by the tool's limit. */
int64_t backend_limit_ns(const struct run *run);
/*
 * Until when that is, for a stop that begins, or has begun with threads that were late before
 * (stop_late).
 */
int64_t backend_deadline(const struct run *run);
/*
 * After stop_leave, where threads did not stop in time: true if another attempt may end otherwise.
 * On a busy machine they stop when they get their turn. One that is stuck (frozen, say) does not.
 */
bool backend_may_try_again(const struct run *run);
/* Where the next finding belongs: WAITER_MAX of them are kept, the last one is overwritten then. */
struct safety_finding *backend_next_finding(struct run *run);
/* Keeps the next finding. */
void backend_add_finding(struct run *run);
/*
 * Stops all threads and looks, as an attempt of the stop-all way does, and changes nothing.
 * *ret_late: the look was broken off, since it took too long.
 */
int backend_stop_all_look(struct run *run, bool *ret_late, struct uspl_err *err) uspl_must_check;
/*
 * The same for the stopless way, with the same failures as the back end: only the threads that run
 * are stopped. *ret_threads: how many threads there are.
 */
int backend_stopless_look(struct run *run, bool *ret_late, size_t *ret_threads,
			  struct uspl_err *err) uspl_must_check;

#endif
