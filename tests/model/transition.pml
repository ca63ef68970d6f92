// SPDX-License-Identifier: GPL-3.0-or-later
// transition.pml - the switch that wakes nobody (docs/transition.md), for spin to try in every
// order
/*
 * One thread that runs all the time, and two that may fall asleep and wake up at any moment, in the
 * middle of a trampoline too, call two functions again and again. A tool applies an update of both.
 * It may be killed before any of its steps: then all threads that it holds are let go. A second
 * tool comes and applies the update or undoes it. Each line of a thread and of a tool is one step;
 * between two of them anything else may happen. There is no time here: a hold timeout may be over
 * at once.
 *
 *     together   whoever enters old code does so while the selector says old, and when the selector
 *                changes to new, nobody is in old code; the same with old and new exchanged
 *     released   a tool that ends has let everybody go
 *     goes_on    a thread that waits in a trampoline gets out of it, whoever has died
 *
 * BY_THREAD: threads may go over one by one, and functions call each other. Then "together" is this:
 *
 *     apart      no thread has frames of old and of new code at once; whoever is in the code that
 *                is to be left, or enters it, has a slot; and when the selector says one side only,
 *                nobody is in the other one's code
 *
 * The first two are asserted where they could break, the third is an ltl formula; spin itself looks
 * for states in which nothing can happen any more. The macros WITH_... and WITHOUT_... take one
 * precaution away each, and spin must then find an error (tests/model/run).
 */

#define RUNNER 0
#ifndef THREADS
#define THREADS 3
#endif
#ifndef WAKES
#define WAKES 2 /* how often each sleeper may wake up */
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2 /* of each tool */
#endif
#define FUNCTIONS 2
#define NOBODY 255

/* The selector: one bit says the side, one that trampolines hold. */
#define OLD 0
#define NEW 1
#define HOLD 2
#define side(w) ((w) & 1)
#define other(s) (1 - (s))
#define holding(w) (((w) & HOLD) != 0)
/*
 * Threads go over to the side one by one, but for those that have a slot; one of two sets of slots
 * counts.
 */
#define BY 16
#define SET2 32
#define by_thread(w) (((w) & BY) != 0)
/* What a hold falls back to. */
#define base(w) ((w) & (1 + BY + SET2))
/*
 * DRAINS: before it closes the trampolines a tool may have them let pass whom they take to be
 * inside.
 */
#define DRAIN 8
byte selector = OLD;

/*
 * Beside it, what a tool has decided while the selector held: none, or a side. Threads read both at
 * once.
 */
#define NONE 0
#define commit_of(w) (2 + (w))
#define decided_by(c) ((c) - 2)
byte commit_byte = NONE;
#define said (holding(selector) && commit_byte != NONE -> decided_by(commit_byte) : selector)

/*
 * SEVERAL: the second function is another module's, whose trampolines have a selector of their own.
 * That says what is the case, or that the first one decides.
 */
#define FOLLOW 4
#ifdef SEVERAL
byte selector_beside = OLD;
#define own_selector(f) ((f) == 0 -> selector : selector_beside)
#else
#define own_selector(f) selector
#endif

/* What stands at an entry. */
#define ORIGINAL 0
#define ARMED 1
#define DIRECT 2
byte entry[FUNCTIONS];

/* Where a thread is. */
#define OUTSIDE 0
#define IN_TRAMPOLINE 1 /* will read its trampoline's own selector */
#define NOT_OLD 2 /* has read it: not OLD; will read it again */
#define ASKS 3 /* nor NEW: will read the selector that decides */
#define ASKED 4 /* has read it: not OLD; will read it again */
#define WAITING 5
#define LAPSING 6 /* has waited long enough, or read a commit byte; will end the hold */
#define GOES_OLD 7 /* has read OLD, is still in the trampoline */
#define GOES_NEW 8
#define IN_OLD 9
#define IN_NEW 10
#define DRAINED 11 /* has read a DRAIN: finds out whether it may pass */
#define CHOOSES 12 /* has read a BY: will look for its slot */
#define LEFT 13 /* has left its call by its slot, and will clear that */
#define CHOSE_GOAL 14 /* will read the side, and go there, */
#define CHOSE_OTHER 15 /* or to the other one */
byte place[THREADS];
byte trampoline[THREADS]; /* which one, where it reads selectors */

#define AWAKE 0
#define ASLEEP 1
#define WOKEN 2 /* may run; no processor has taken it yet */
byte sleep[THREADS];
byte runs[THREADS]; /* the run counts */
bool stopped[THREADS];
#define is_free(i) (!stopped[i] && sleep[i] == AWAKE && work[i] == NO_WORK)

/* What a thread has been given to do for a tool. The agent finishes it even if the tool is gone. */
#define NO_WORK 0
#define FINALIZE 1 /* the store that makes an entry direct */
byte work[THREADS];
byte work_entry;
byte sent = NOBODY; /* the stopped thread that may execute its work, and nothing else */

bool killed;
byte tools_ended;

#ifdef BY_THREAD
/* The code of a thread's frames, and whether the innermost call was made from there. */
#define NO_FRAMES 0
#define frames_of(s) (1 + (s))
byte frames[THREADS];
bool nested[THREADS];
bool slot[2 * THREADS];
bool second[THREADS]; /* the set that a thread goes by, as it has read it */
#define set_of(w) (((w) & SET2) != 0)
#define has_slot(i, w) slot[set_of(w) * THREADS + (i)]
#endif

#define nobody_in(s) (!is_in(0, s) && !is_in(THREADS - 1, s) && !is_in(THREADS / 2, s))
#define is_in(i, s) \
	((s) == OLD && (place[i] == GOES_OLD || place[i] == IN_OLD) || \
	 (s) == NEW && (place[i] == GOES_NEW || place[i] == IN_NEW) || \
	 has_frames(i, s) || in_drain(i))
#ifdef BY_THREAD
#define has_frames(i, s) (frames[i] == frames_of(s))
#else
#define has_frames(i, s) false
#endif
#ifdef WITH_DRAINED_CHECKED
#define in_drain(i) false
#else
#define in_drain(i) (place[i] == DRAINED || place[i] >= CHOOSES)
#endif

#ifdef BY_THREAD
/* Whoever is in the code that w leads away from has a slot. */
#define is_sound(i, w) \
	(!is_in(i, other(side(w))) || by_thread(w) && has_slot(i, w))
#define all_sound(w) (is_sound(0, w) && is_sound(THREADS - 1, w) && is_sound(THREADS / 2, w))

inline become(w)
{
	assert(base(selector) == base(w) || all_sound(base(w)));
	selector = w
}

inline enter(i, s)
{
	assert(frames[i] == NO_FRAMES || frames[i] == frames_of(s));
	assert(side(selector) == s || by_thread(selector) && has_slot(i, selector));
	frames[i] = frames_of(s);
	place[i] = IN_OLD + s
}

inline leave(i)
{
	if
	:: nested[i] -> nested[i] = false
	:: else -> frames[i] = NO_FRAMES; place[i] = OUTSIDE
	fi
}
#else
#define all_sound(w) nobody_in(other(side(w)))

inline become(w)
{
	assert(side(selector) == side(w) || nobody_in(side(selector)));
	selector = w
}

inline enter(i, s)
{
	assert(side(selector) == s);
	place[i] = IN_OLD + s
}

inline leave(i)
{
	place[i] = OUTSIDE
}
#endif

inline call(i, f)
{
	if
	:: entry[f] == ORIGINAL -> enter(i, OLD)
	:: entry[f] == DIRECT -> enter(i, NEW)
	:: entry[f] == ARMED -> place[i] = IN_TRAMPOLINE; trampoline[i] = f
	fi
}

/*
 * Whoever waits ends the hold, by the commit byte or by the hold timeout, if both bytes are still
 * as read.
 */
inline end_hold(i)
{
	if
#ifdef WITH_PLAIN_LAPSE
	:: seen_commit == NONE -> become(base(seen))
#endif
#ifdef WITH_NARROW_LAPSE
	:: seen_commit == NONE && selector == seen -> become(base(seen))
#endif
	:: selector == seen && commit_byte == seen_commit && commit_byte == NONE -> become(base(seen))
	:: selector == seen && commit_byte == seen_commit && commit_byte != NONE -> become(decided_by(commit_byte)); commit_byte = NONE
	:: else
	fi;
	seen = 0;
	seen_commit = NONE;
	place[i] = IN_TRAMPOLINE
}

inline do_work(i)
{
	entry[work_entry] = DIRECT;
	work[i] = NO_WORK;
	sent = NOBODY
}

#ifdef WITH_STACK_IGNORED
#define may_have_left(i) true
#else
#define may_have_left(i) (!nested[i])
#endif

inline clear_slot(i)
{
#ifndef WITH_SLOT_KEPT
	slot[second[i] * THREADS + i] = false;
#endif
	place[i] = CHOSE_GOAL
}

proctype Thread(byte i)
{
	byte seen, seen_commit; /* as read by whoever is about to end the hold */

end:	do
	:: d_step { is_free(i) && place[i] == OUTSIDE -> call(i, 0) }
	:: d_step { is_free(i) && place[i] == OUTSIDE -> call(i, 1) }
	:: d_step { is_free(i) && place[i] == IN_TRAMPOLINE -> place[i] = (own_selector(trampoline[i]) == OLD -> GOES_OLD : NOT_OLD) }
	:: d_step { is_free(i) && place[i] == NOT_OLD -> place[i] = (own_selector(trampoline[i]) == NEW -> GOES_NEW : ASKS) }
	:: d_step { is_free(i) && place[i] == ASKS -> place[i] = (selector == OLD -> GOES_OLD : ASKED) }
	:: d_step { is_free(i) && place[i] == ASKED -> if
			:: selector == NEW -> place[i] = GOES_NEW
			:: (selector & DRAIN) -> place[i] = DRAINED
#ifdef BY_THREAD
			:: by_thread(selector) && !holding(selector) -> place[i] = CHOOSES; second[i] = set_of(selector)
#endif
			:: else -> place[i] = WAITING
			fi }
#ifdef BY_THREAD
	:: d_step { is_free(i) && place[i] == CHOOSES && !slot[second[i] * THREADS + i] -> place[i] = CHOSE_GOAL }
#ifndef WITH_STACK_IGNORED
	:: d_step { is_free(i) && place[i] == CHOOSES && slot[second[i] * THREADS + i] -> place[i] = CHOSE_OTHER }
#endif
	/* The stack pointer says that it has left. */
	:: d_step { is_free(i) && place[i] == CHOOSES && slot[second[i] * THREADS + i] && may_have_left(i) -> place[i] = LEFT }
	:: d_step { is_free(i) && place[i] == LEFT -> clear_slot(i) }
	:: d_step { is_free(i) && place[i] == CHOSE_GOAL -> second[i] = 0; place[i] = GOES_OLD + side(selector) }
	:: d_step { is_free(i) && place[i] == CHOSE_OTHER -> second[i] = 0; place[i] = GOES_OLD + other(side(selector)) }
	:: d_step { is_free(i) && (place[i] == IN_OLD || place[i] == IN_NEW) && !nested[i] -> nested[i] = true; call(i, 0) }
#endif
	:: d_step { is_free(i) && place[i] == DRAINED -> place[i] = WAITING }
	:: d_step { is_free(i) && place[i] == DRAINED -> trampoline[i] = 0; enter(i, side(selector)) }
	:: d_step { is_free(i) && place[i] == WAITING && !holding(selector) -> place[i] = IN_TRAMPOLINE }
	:: d_step { is_free(i) && place[i] == WAITING && holding(selector) && commit_byte != NONE ->
			seen = selector; seen_commit = commit_byte; place[i] = LAPSING }
#ifndef WITHOUT_HOLD_TIMEOUT
	:: d_step { is_free(i) && place[i] == WAITING && holding(selector) && commit_byte == NONE -> seen = selector; place[i] = LAPSING }
#endif
	:: d_step { is_free(i) && place[i] == LAPSING -> end_hold(i) }
	:: d_step { is_free(i) && place[i] == GOES_OLD -> trampoline[i] = 0; enter(i, OLD) }
	:: d_step { is_free(i) && place[i] == GOES_NEW -> trampoline[i] = 0; enter(i, NEW) }
	:: d_step { is_free(i) && (place[i] == IN_OLD || place[i] == IN_NEW) -> leave(i) }
	:: d_step { work[i] != NO_WORK && (sent == i || (!stopped[i] && sleep[i] == AWAKE)) -> do_work(i) }
	:: d_step { i != RUNNER && !stopped[i] && sleep[i] == AWAKE && runs[i] < WAKES -> sleep[i] = ASLEEP }
	:: d_step { sleep[i] == ASLEEP -> sleep[i] = WOKEN }
	:: d_step { !stopped[i] && sleep[i] == WOKEN -> runs[i]++; sleep[i] = AWAKE }
	od
}

/* The tool. "from" is the side that is to be left, "goal" the other one. */

#ifdef WITH_TRAMPOLINES_CHECKED
#define is_inside(i) (place[i] == IN_OLD + from || has_frames(i, from))
#else
#define is_inside(i) is_in(i, from)
#endif
#ifdef WITHOUT_AGENT_CHECK
#define in_way(i) is_inside(i)
#else
#define in_way(i) (is_inside(i) || work[i] != NO_WORK)
#endif

inline say_beside(w)
{
#ifdef SEVERAL
	selector_beside = w
#else
	skip
#endif
}

inline trampoline_entries()
{
#ifndef WITHOUT_FOLLOWING
	say_beside(FOLLOW);
#endif
	i = 0;
	do
	:: d_step { i < FUNCTIONS -> entry[i] = ARMED; i++ }
#ifdef WITHOUT_ARMING
	:: i == 1 -> break
#endif
	:: i == FUNCTIONS -> break
	od
}

/* Every thread's snapshot, if it sleeps; how it is found may be over when the next line is read. */
inline look()
{
	blocked = false;
	i = 0;
	do
	:: i < THREADS ->
		count[i] = runs[i];
		asleep[i] = (sleep[i] == ASLEEP && runs[i] == count[i]);
		d_step { blocked = blocked || (asleep[i] && in_way(i)); i++ }
	:: else -> break
	od
}

/* A stop wakes whoever sleeps, but nothing of the program is executed. */
inline stop(i)
{
	d_step {
		stopped[i] = true;
		if
		:: sleep[i] != AWAKE -> sleep[i] = AWAKE; runs[i]++
		:: else
		fi
	}
}

inline stop_others()
{
	i = 0;
	do
	:: d_step { i < THREADS && asleep[i] -> i++ }
	:: i < THREADS && !asleep[i] -> stop(i); d_step { blocked = blocked || in_way(i); i++ }
	:: i == THREADS -> break
	od
}

inline release_all()
{
	i = 0;
	do
	:: d_step { i < THREADS -> stopped[i] = false; count[i] = 0; asleep[i] = false; i++ }
	:: i == THREADS -> break
	od
}

/* Only what a stopped thread's agent has written last could be other than ARMED. */
inline verify_entries()
{
#ifndef WITHOUT_VERIFY
	blocked = blocked || entry[0] != ARMED;
	blocked = blocked || entry[1] != ARMED;
#endif
	skip
}

/* What a dead tool has decided becomes the selector, before its commit byte is forgotten. */
inline end_commit()
{
#ifndef WITHOUT_END
	d_step {
		if
		:: holding(selector) && commit_byte != NONE -> become(decided_by(commit_byte))
		:: else
		fi
	}
#endif
	skip
}

/* Any thread may be taken to be inside, or not. */
inline drain()
{
#ifdef DRAINS
#ifndef WITH_STALE_COMMIT
	commit_byte = NONE;
#endif
	if
	:: d_step { selector == from && settled == from -> selector = from + HOLD + DRAIN }
	:: skip
	fi
#else
	skip
#endif
}

inline close_trampolines()
{
#ifndef WITH_STALE_COMMIT
	commit_byte = NONE;
#endif
	if
	:: selector == settled -> selector = settled + HOLD
	/* left by a dead tool: a new hold timeout */
	:: selector == settled + HOLD -> selector = settled + HOLD
	:: selector == settled + HOLD + DRAIN -> selector = settled + HOLD
	:: else -> skip
	fi
}

/*
 * One after another, each in its own time. Who has run is stopped, and looked at again; or, where
 * nobody is stopped, seen at one instant, as those are that run.
 */
inline recount()
{
#ifndef WITHOUT_RECOUNT
	i = 0;
	do
	:: d_step { i < THREADS && !samples && !(asleep[i] && runs[i] != count[i]) -> i++ }
	:: i < THREADS && !samples && asleep[i] && runs[i] != count[i] ->
		stop(i);
		d_step { asleep[i] = false; blocked = blocked || in_way(i); i++ }
	:: d_step { i < THREADS && samples && asleep[i] && runs[i] == count[i] -> i++ }
	:: d_step { i < THREADS && samples && !(asleep[i] && runs[i] == count[i]) -> blocked = blocked || in_way(i); i++ }
	:: i == THREADS -> break
	od
#endif
	skip
}

/* The runner, in its stop, the others stopped, too. */
inline arm_runner(what)
{
	d_step { work[RUNNER] = what; sent = RUNNER };
	sent == NOBODY
}

/* Whoever waits may do the same at the same time. */
inline open_trampolines()
{
	d_step {
		if
		:: selector == settled + HOLD || selector == settled + HOLD + DRAIN -> become(settled)
		:: else
		fi
	}
}

/*
 * The commit byte is there, whoever dies, or the hold timeout was over before. Then the selector
 * says it by itself.
 */
inline commit(to)
{
#ifdef NEVER_DONE
	assert(!(asleep[1] && sleep[1] == ASLEEP));
#endif
#ifdef WITH_PLAIN_COMMIT
	d_step { become(to) }
#else
	d_step {
		assert(selector != settled + HOLD || all_sound(to));
		commit_byte = commit_of(to)
	};
	decided = (selector == to || holding(selector));
	if
	/*
	 * The commit byte may stay: nobody reads it beside such a selector. It goes for the sake of
	 * fewer states.
	 */
	:: decided -> d_step { become(to); settled = to; commit_byte = NONE }
	:: else
	fi;
	decided = false
#endif
}

inline attempt_once()
{
	look();
	samples = false;
	if
#ifndef ONLY_SAMPLE
	:: !blocked -> stop_others(); verify_entries()
#endif
	:: !blocked && no_agent -> samples = true
#ifdef ONLY_SAMPLE
	:: !blocked && !no_agent -> blocked = true
#endif
	:: else
	fi;
	if
	:: blocked || said == goal -> skip
	:: else ->
#ifdef WITH_LATE_CLOSE
		recount(); close_trampolines();
#else
		close_trampolines(); recount();
#endif
		if
		:: blocked -> open_trampolines()
		:: else -> commit(goal)
		fi
	fi;
	done = !blocked && said == goal;
	release_all()
}

#ifdef BY_THREAD
#ifdef WITH_CHOOSING_OUTSIDE
#define is_passing(i) (place[i] == GOES_OLD + from || work[i] != NO_WORK)
#else
#define is_passing(i) (place[i] == GOES_OLD + from || work[i] != NO_WORK || in_drain(i))
#endif

/* Of a thread that stands still: is it to have a slot, and can it? */
inline gather(i)
{
	blocked = blocked || is_passing(i);
	wanted[i] = has_frames(i, from)
}

#ifdef WITH_SLOTS_OVERLOOKED
#define slot_is_clear(i) (i > 0 || !has_slot(i, settled))
#else
#define slot_is_clear(i) (!has_slot(i, settled))
#endif

/* Who looks for a slot that is clear already goes over. */
#define stays(i) (has_frames(i, from) || place[i] == GOES_OLD + from || place[i] == CHOSE_OTHER)

/* A slot is its thread's own: with that stopped, and outside, it is cleared for it. */
inline refresh()
{
	i = 0;
	do
	:: i < THREADS && by_thread(settled) && selector == settled && side(settled) == goal ->
		stop(i);
		d_step {
			if
			:: !is_in(i, from) -> has_slot(i, settled) = false
			:: else
			fi;
			stopped[i] = false;
			i++
		}
	:: else -> break
	od
}

/* Those in the way are stopped, too, and get slots in the set that doesn't count. */
inline attempt_by_thread()
{
	blocked = false;
	/* Each has cleared its slot: the selector may say what it leads to already. */
	i = 0;
	do
	:: i < THREADS && selector == settled && by_thread(settled) && side(settled) == goal && slot_is_clear(i) -> i++
	:: i == THREADS -> d_step { assert(!stays(0) && !stays(THREADS - 1) && !stays(THREADS / 2)); selector = goal; settled = goal }; break
	:: else -> break
	od;
	i = 0;
	do
	:: i < THREADS ->
		count[i] = runs[i];
		asleep[i] = (sleep[i] == ASLEEP && runs[i] == count[i]);
		d_step { asleep[i] = asleep[i] && !in_way(i); i++ }
	:: else -> break
	od;
	i = 0;
	do
	:: d_step { i < THREADS && asleep[i] -> i++ }
	:: i < THREADS && !asleep[i] -> stop(i); d_step { gather(i); i++ }
	:: i == THREADS -> break
	od;
	verify_entries();
	if
	:: blocked || said == goal -> skip
	:: else ->
		close_trampolines();
		i = 0;
		do
		:: d_step { i < THREADS && !(asleep[i] && runs[i] != count[i]) -> i++ }
		:: i < THREADS && asleep[i] && runs[i] != count[i] ->
			stop(i);
			d_step { asleep[i] = false; gather(i); i++ }
		:: i == THREADS -> break
		od;
		if
		:: blocked -> open_trampolines()
		:: !blocked && !wanted[0] && !wanted[THREADS - 1] && !wanted[THREADS / 2] -> commit(goal)
		:: else ->
#ifdef WITH_ONE_SET
			target = goal + BY + (settled & SET2);
#else
			target = goal + BY + (by_thread(settled) -> (SET2 - (settled & SET2)) : 0);
#endif
			i = 0;
			do
			:: d_step { i < THREADS -> has_slot(i, target) = wanted[i]; i++ }
			:: i == THREADS -> break
			od;
			commit(target)
		fi
	fi;
#ifdef NEVER_BY_THREAD
	assert(!by_thread(selector));
#endif
	done = !blocked && said == goal;
	for (i : 0 .. THREADS - 1) { wanted[i] = false }
	release_all()
}
#endif

/* Entries become direct by the agent's store, original by the tool's one byte. */
inline finalize()
{
	say_beside(goal);
	stop(RUNNER);
	i = 0;
	do
	:: d_step { i < FUNCTIONS && goal == OLD -> entry[i] = ORIGINAL; i++ }
	:: i < FUNCTIONS && goal == NEW -> work_entry = i; arm_runner(FINALIZE); i++
	:: i == FUNCTIONS -> break
	od;
	stopped[RUNNER] = false
}

proctype Tool(byte goal)
{
	byte from = other(goal);
	byte i, attempts;
	bool blocked, done, decided;
	byte settled; /* what the selector says between holds */
#ifdef BY_THREAD
	byte target;
	bool wanted[THREADS];
#endif
	bool samples;  /* nobody is stopped */
	bool no_agent; /* of a tool that has died */
	byte count[THREADS];
	bool asleep[THREADS];

	{
		no_agent = (work[RUNNER] == NO_WORK);
		do
		:: !done && attempts < ATTEMPTS ->
			end_commit();
			trampoline_entries();
			settled = base(said);
			drain();
#ifdef WITH_EARLY_FINALIZE
			finalize();
#endif
#ifdef BY_THREAD
			if
			:: attempt_once()
			:: refresh(); attempt_by_thread()
			fi;
#else
			attempt_once();
#endif
			attempts++
		:: else -> break
		od;
		if
		:: done -> finalize()
		:: else -> open_trampolines()
		fi;
		assert(!stopped[0] && !stopped[THREADS - 1] && !stopped[THREADS / 2])
	} unless { killed };
	d_step {
		killed = false;
		from = 0; goal = 0; i = 0; attempts = 0; blocked = false; done = false;
		decided = false; samples = false; no_agent = false; settled = 0;
#ifdef BY_THREAD
		target = 0;
		for (i : 0 .. THREADS - 1) { wanted[i] = false }
#endif
		sent = NOBODY;
		for (i : 0 .. THREADS - 1) { stopped[i] = false; count[i] = 0; asleep[i] = false }
		i = 0;
		tools_ended++
	}
}

/* SIGKILL at any moment, or never: the threads go on by themselves. Then comes the next command. */
init
{
	byte i;

	atomic {
		for (i : 0 .. THREADS - 1) { run Thread(i) }
		i = 0;
		run Tool(NEW)
	}
	if
	:: tools_ended == 0 -> killed = true; tools_ended == 1
	:: tools_ended == 1
	fi;
#ifdef SECOND
	if
	:: run Tool(NEW)
	:: run Tool(OLD)
	fi
#endif
}

#ifdef GOES_ON
#define in_trampoline (place[RUNNER] >= IN_TRAMPOLINE && place[RUNNER] <= LAPSING || place[RUNNER] == DRAINED || place[RUNNER] >= CHOOSES)
ltl goes_on { [] (in_trampoline -> <> !in_trampoline) }
#endif
