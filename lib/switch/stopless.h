/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stopless.h - the stopless way at work: what the files of this back end share
 *
 *     backend_stopless.c    the steps of an attempt
 *     stopless_by_thread.c  threads in the way that go over one by one
 *     stopless_entries.c    entries, records, and the selectors of those modules that don't decide
 *     stopless_examine.c    which threads are in the way, asleep or stopped
 *     stopless_samplers.c   threads that run, looked at while they do
 *     stopless_selector.c   the selector that decides: its hold, its timeout and its value
 */
#ifndef USPL_SWITCH_STOPLESS_H
#define USPL_SWITCH_STOPLESS_H

#include "switch/backend.h"
#include "switch/trampolines.h"
#include "thread/blocked.h"
#include "thread/sampler.h"

/* What the update changes in one module. */
/* With more threads it takes 100 us and more to find out that no sleeper has run, or which has. */
#define STOPLESS_FEW 64

struct stopless_part {
	struct region *region;
	struct trampolines trampolines;
	enum uspl_region_state before; /* the region's state at first */
};

/* A thread that is in the way and may stay there, while the others go over. */
struct stopless_slot {
	pid_t tid;
	struct uspl_slot raw;
};

struct stopless {
	struct run *run;
	const struct transition *t;
	VEC(struct stopless_part) parts;
	const struct region *leader; /* the one whose selector switches all of them */
	struct blocked blocked;
	sampler_vec samplers; /* through which threads that run are looked at without a stop */
	bool open;            /* blocked is */
	bool looks;           /* only: there is time to see whole call chains in the way */
	bool armed;           /* entries lead to trampolines, or did */
	bool arm_again;       /* not all of them do any more */
	bool undecided;       /* a decision was begun, and it isn't known whether it was made */
	struct uspl_selector timeout; /* how long trampolines will hold */
	/* Where old functions seem to wait; not if the stack is that of a thread that runs. */
	inactive_stack_vec stacks;
	bool draining; /* the selector was made a DRAIN, and not yet anything else by the tool */
	int64_t drain_again_ns; /* CLOCK_MONOTONIC: not before that */
	unsigned int drains;    /* how often that has been done */
	/*
	 * What the selector says between holds: the value before the switch or, once threads go
	 * over one by one, that of BY_THREAD.
	 */
	uint8_t settled;
	bool gathers;            /* this attempt lets threads that are in the way have slots, */
	bool gathered;           /* and each that was found has one */
	bool refused;            /* threads can't go over one by one, and it was said why */
	int64_t gather_again_ns; /* CLOCK_MONOTONIC: until then a slot is taken to be right */
	bool pointers_sound;     /* each thread has a thread pointer of its own */
	VEC(struct stopless_slot) slots;
	size_t refreshed; /* how many of them the last look has changed */
	int64_t count_ns; /* how long it took last to find out how many sleepers have run */
};

/* What the selector says before the switch. */
enum uspl_selector_value stopless_value_from(const struct stopless *stopless);
/* And after it. */
enum uspl_selector_value stopless_value_to(const struct stopless *stopless);

/*
 * Looks where the threads are, and checks the stacks of those that sleep. A thread in the way
 * becomes a finding of the run; a thread that is to be stopped for it is of class BLOCKED_RUNS
 * then.
 */
int stopless_examine(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/*
 * Looks in a hurry at the threads that have run since, so that as few as possible are found out of
 * date later.
 */
int stopless_examine_again(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/*
 * The same before the trampolines are closed, until few enough have run meanwhile.
 * USPL_E_UNSUPPORTED if that doesn't happen: on their way to the trampolines they would take the
 * processors from each other, and from the threads that are to be stopped.
 */
int stopless_settle_down(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/*
 * Makes samplers for threads that run, as far as the kernel lets the tool, and follows their stacks
 * as they are a moment later, so that the code met there is already known when there is no time to
 * look it up. False if the kernel shows nothing of any of them. Even if true there may be no
 * sampler, where others have had the processors for the last milliseconds. stopless_drop_samplers
 * follows.
 */
bool stopless_open_samplers(struct stopless *stopless);
void stopless_drop_samplers(struct stopless *stopless);
/*
 * True if stopless_sample can succeed: no thread runs, or all that run can be seen while they do.
 */
bool stopless_can_sample(struct stopless *stopless);
/* Has the samplers begin to look, right before the trampolines are closed. False if they can't. */
bool stopless_arm_samplers(struct stopless *stopless);
/*
 * With the trampolines closed, and no thread stopped: true once all code is known to be empty. The
 * threads that run are seen from their samplers. False if a thread is in the way, which is a
 * finding then, or if it isn't known by the deadline; nothing is begun after `begin` (both
 * CLOCK_MONOTONIC, ns). Thorough: sleepers that have run meanwhile are looked at again, even if
 * there are many threads.
 */
bool stopless_sample(struct stopless *stopless, bool thorough, int64_t begin, int64_t deadline);
/*
 * Where all threads are in uninterruptible sleep (frozen, say) none can map memory for the update,
 * or finalize an entry. One of them counts as running from now on, so that the tool asks it to
 * stop, and sees that it doesn't.
 */
void stopless_ask_stuck(struct stopless *stopless);
/*
 * Stops threads that run and don't stand still yet, and looks at their stacks. deadline:
 * CLOCK_MONOTONIC. USPL_E_UNSTOPPABLE if it passes first.
 */
int stopless_stop_running(struct stopless *stopless, int64_t deadline,
			  struct uspl_err *err) uspl_must_check;
/*
 * With the trampolines closed: those sleepers that were found free and have not run since are
 * `accounted`, the others `ran`. All are asked for at once, if their sum can be had; once that has
 * told, which *counted (false at first) says, the few that are left are asked one by one. False if
 * it can't be told now.
 */
bool stopless_account_sleepers(struct stopless *stopless, bool *counted);
/* Checks the sleepers that have not been found free yet. */
void stopless_check_sleepers(struct stopless *stopless);
/*
 * With all threads known to be outside the code: true if one of them is on each of
 * stopless->stacks. The thread's own unwind would have found what lies there, and no other thread
 * comes back to it.
 */
bool stopless_stacks_are_own(const struct stopless *stopless);
/*
 * With the trampolines closed: true in *ret_empty once all code is known to be empty, but for
 * threads that have a slot where these are gathered. As a rule no thread has run since the look; a
 * thread that has is looked at again. False if one is in the way, or the deadline passes.
 */
int stopless_recount(struct stopless *stopless, int64_t deadline, bool *ret_empty,
		     struct uspl_err *err) uspl_must_check;

/* Chooses the region whose selector decides. */
void stopless_choose_leader(struct stopless *stopless);
/*
 * The selectors and the entries must agree. Where a tool died they may say that the switch has been
 * made: that is noted in the run.
 */
int stopless_check_selectors(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/*
 * Arms all entries: leads them to trampolines, and all trampolines to the deciding selector, once.
 */
int stopless_arm(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/*
 * After a tool that died: its agent may have made its swap or its store since the entries were
 * armed. It can't any more, with no thread in it. False if it has: all has to begin anew.
 */
bool stopless_is_still_armed(struct stopless *stopless);
/*
 * Undoes the arming where the tool has decided not to switch. As long as a thread is in a
 * trampoline the regions have to stay, as if they had been undone.
 */
int stopless_take_back(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/* After the switch: selectors that say it by themselves, direct entries, and the record. */
int stopless_finalize(struct stopless *stopless, struct uspl_err *err) uspl_must_check;

/* How long trampolines hold at most. */
int64_t stopless_hold_timeout_ns(const struct stopless *stopless);
/* Measures how many turns that is on this machine now; stopless_hold follows. */
void stopless_measure_hold(struct stopless *stopless);
/*
 * Makes trampolines let those threads through that are inside, whose outermost entries had these
 * stack pointers, and hold all others until the trampolines are closed or opened, or one of these
 * has waited for 40 ms (or half of transition.max_pause_s, if that is less). *ret_held: they hold
 * now. After a drain that failed they don't for one to nine times as long; if it is only guessed
 * that those inside ever return, for ten times as long as that.
 */
int stopless_drain(struct stopless *stopless, const taddr *sp, size_t n, bool guessed,
		   bool *ret_held, struct uspl_err *err) uspl_must_check;
/* Makes the selector hold, before anything is read afterwards. */
int stopless_hold(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/* Ends the hold without a switch. */
void stopless_end_hold(struct stopless *stopless);
/*
 * Ends the hold by making the selector say that, at once for all trampolines. If it is the value
 * after the switch, that is noted in the run, else it is `settled`; neither if the hold timeout was
 * over before, which is no failure. On failure it wasn't made, or that isn't known:
 * stopless->undecided.
 */
int stopless_commit(struct stopless *stopless, uint8_t to, struct uspl_err *err) uspl_must_check;

/* Before the next attempt: no thread counts as seen outside any more. */
void stopless_forget_accounted(struct stopless *stopless);

/* True if threads may go over one by one, as far as is known. */
bool stopless_may_go_by_thread(struct stopless *stopless);
/*
 * After an attempt that has found threads in the way: lets all others go over, and these when they
 * leave the functions, if that is allowed and possible. Does nothing where they are on their way so
 * already. The threads in the way are the run's findings afterwards. If none is left the switch is
 * made.
 */
int stopless_go_by_thread(struct stopless *stopless, struct uspl_err *err) uspl_must_check;
/*
 * True once each thread that had a slot has cleared it, and a look at all threads agrees that none
 * is in the code: none can come there any more.
 */
bool stopless_is_left(struct stopless *stopless, struct uspl_err *err);
/*
 * What the slot of a stopped thread in the way should be; it was found so. False if that can't be
 * told.
 */
bool stopless_slot_of(const struct stopless *stopless, const struct thread *thread,
		      const struct safety_finding *finding, struct uspl_slot *ret);
/* Ends that: the selector says what it leads to already. Notes the switch in the run. */
int stopless_end_by_thread(struct stopless *stopless, struct uspl_err *err) uspl_must_check;

#endif
