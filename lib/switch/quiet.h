/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quiet.h - the quiet way while it is gone: what the files of this back end share
 *
 *     backend_quiet.c   the steps of an attempt
 *     quiet_entries.c   entries, records, and the words of those modules that don't decide
 *     quiet_examine.c   who is in the way, asleep or stopped
 *     quiet_posts.c     those that run, looked at while they do
 *     quiet_word.c      the word that decides: held with a lease, and what it is to be
 */
#ifndef USPL_SWITCH_QUIET_H
#define USPL_SWITCH_QUIET_H

#include "switch/backend.h"
#include "switch/gate.h"
#include "thread/asleep.h"
#include "thread/glimpse.h"

/* What the update changes in one module. */
struct quiet_part {
	struct region *region;
	struct gates gates;
	enum uspl_region_state before; /* the region's state at first */
};

struct quiet {
	struct run *run;
	const struct transition *t;
	VEC(struct quiet_part) parts;
	const struct region *decider; /* the one whose word switches all of them */
	struct asleep asleep;
	glimpse_post_vec posts; /* from which those that run are looked at without a stop */
	bool open;              /* asleep is */
	bool looks;             /* only: there is time to see who is in the way from end to end */
	bool led;               /* entries lead to gates, or did */
	bool lead_again;        /* not all of them do any more */
	bool undecided;         /* a decision was begun, and nobody knows whether it was made */
	struct uspl_word lease; /* how long gates will hold */
	/* Where old functions seem to wait. They don't where a thread runs, whose stack that is. */
	parked_stack_vec stacks;
	bool draining; /* the word was made a DRAIN, and not yet anything else by the tool */
	int64_t drain_again_ns; /* CLOCK_MONOTONIC: not before that */
	unsigned int drains;    /* how often that has been done */
};

/* What the word says before the switch. */
enum uspl_word_value quiet_word_from(const struct quiet *quiet);
/* And after it. */
enum uspl_word_value quiet_word_to(const struct quiet *quiet);

/*
 * Looks where the threads are, and checks the stacks of those that sleep. Who is in the way becomes
 * a finding of the run; who is to be stopped for it is of class ASLEEP_RUNS afterwards.
 */
int quiet_examine(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/* Those that have run since, in a hurry: as little as can be is to be found out of date later. */
int quiet_examine_again(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/*
 * The same before the gates are closed, until few enough have run meanwhile. USPL_E_UNSUPPORTED if
 * that doesn't come about: on their way to the gates they would take the processors from each
 * other, and from those that are to be stopped.
 */
int quiet_calm_down(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/*
 * Makes posts for those that run, as far as the kernel lets us, and follows their stacks as they
 * are a moment later: the code that is met there is known by the time it has to be found out in a
 * hurry. False if the kernel shows nothing of any of them. Else there may be no post all the same,
 * where others have had the processors for the last milliseconds. quiet_drop_posts follows.
 */
bool quiet_post(struct quiet *quiet);
void quiet_drop_posts(struct quiet *quiet);
/*
 * True if quiet_watch can come to something: nobody runs, or all who do can be seen while they do.
 */
bool quiet_can_watch(struct quiet *quiet);
/* Has the posts begin to look, right before the gates are closed. False if they can't. */
bool quiet_alert_posts(struct quiet *quiet);
/*
 * With the gates closed, and nobody stopped: true once all code is known to be empty. Those that
 * run are seen from their posts. False if somebody is in the way, which is a finding then, or if it
 * isn't known by the deadline (CLOCK_MONOTONIC, ns).
 */
bool quiet_watch(struct quiet *quiet, int64_t deadline);
/*
 * Where all threads are in uninterruptible sleep (frozen, say) none can map memory for the update,
 * or settle an entry: one counts as running from now on, so that it is asked to stop, and seen not
 * to.
 */
void quiet_ask_stuck(struct quiet *quiet);
/*
 * Stops those that run and don't stand still yet, and looks at their stacks. deadline:
 * CLOCK_MONOTONIC. USPL_E_UNSTOPPABLE if it passes first.
 */
int quiet_stop_running(struct quiet *quiet, int64_t deadline, struct uspl_err *err) uspl_must_check;
/*
 * With the gates closed: those sleepers that were found free and have not run since are `cleared`.
 * False if that can't be told now.
 */
bool quiet_clear_sleepers(struct quiet *quiet);
/* Of a thread that has been looked at again, whoever it is. */
void quiet_check_sleepers(struct quiet *quiet);
/*
 * With all threads known to be outside the code: true if one of them is on each of quiet->stacks.
 * What lies there was its own unwind's to find, and isn't left for another one to come back to.
 */
bool quiet_stacks_are_own(const struct quiet *quiet);
/*
 * With the gates closed: true in *ret_empty once all code is known to be empty. Nobody has run
 * since the look, as a rule. Otherwise a thread that has is looked at again. False if one is in
 * the way, or the deadline passes.
 */
int quiet_recount(struct quiet *quiet, int64_t deadline, bool *ret_empty,
		  struct uspl_err *err) uspl_must_check;

/* Chooses the region whose word decides. */
void quiet_choose_decider(struct quiet *quiet);
/*
 * The words and the entries must agree. Where a tool died they may say that the switch has been
 * made: that is noted in the run.
 */
int quiet_check_words(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/* Leads all entries to gates, and all gates to the deciding word, once. */
int quiet_lead(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/*
 * After a tool that died: its agent may have made its swap or its store since the entries were led.
 * It can't any more, with nobody in it. False if it has: all is to be begun anew.
 */
bool quiet_is_still_led(struct quiet *quiet);
/*
 * Where it was decided not to switch. As long as a thread is in a gate the regions have to stay: it
 * is as if they had been undone.
 */
int quiet_take_back(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/* After the switch: words that say it by themselves, straight entries, and the record. */
int quiet_settle(struct quiet *quiet, struct uspl_err *err) uspl_must_check;

/* How long gates hold at most. */
int64_t quiet_lease_ns(const struct quiet *quiet);
/* Finds out how many turns that is on this machine now; quiet_close_gates follows. */
void quiet_measure_lease(struct quiet *quiet);
/*
 * Makes gates let those threads through that are inside, whose outermost entries had these stack
 * pointers, and hold all others until the gates are closed or opened, or one of them has waited for
 * 40 ms (or half of transition.max_pause_s, if that is less). *ret_held: that is so now. It isn't
 * for one to nine times as long after one that came to nothing.
 */
int quiet_drain(struct quiet *quiet, const taddr *sp, size_t n, bool *ret_held,
		struct uspl_err *err) uspl_must_check;
/* Makes the word hold, before anything that is read afterwards. */
int quiet_close_gates(struct quiet *quiet, struct uspl_err *err) uspl_must_check;
/* Ends the hold, and nothing has changed. */
void quiet_open_gates(struct quiet *quiet);
/*
 * Ends the hold by the switch, at once for all gates, which is noted in the run, unless the lease
 * was over before: no failure. On failure it wasn't made, or nobody knows: quiet->undecided.
 */
int quiet_commit(struct quiet *quiet, struct uspl_err *err) uspl_must_check;

#endif
