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
#define holding(w) ((w) >= HOLD)
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
#define commit_of(s) (2 + (s))
byte commit_byte = NONE;
#define said (holding(selector) && commit_byte != NONE -> side(commit_byte) : selector)

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

#define nobody_in(s) (!is_in(0, s) && !is_in(THREADS - 1, s) && !is_in(THREADS / 2, s))
#define is_in(i, s) \
	((s) == OLD && (place[i] == GOES_OLD || place[i] == IN_OLD) || \
	 (s) == NEW && (place[i] == GOES_NEW || place[i] == IN_NEW) || \
	 in_drain(i))
#ifdef WITH_DRAINED_CHECKED
#define in_drain(i) false
#else
#define in_drain(i) (place[i] == DRAINED)
#endif

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
	:: seen_commit == NONE -> become(side(seen))
#endif
#ifdef WITH_NARROW_LAPSE
	:: seen_commit == NONE && selector == seen -> become(side(seen))
#endif
	:: selector == seen && commit_byte == seen_commit && commit_byte == NONE -> become(side(seen))
	:: selector == seen && commit_byte == seen_commit && commit_byte != NONE -> become(side(commit_byte)); commit_byte = NONE
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

proctype Thread(byte i)
{
	byte seen, seen_commit; /* as read by whoever is about to end the hold */

end:	do
	:: d_step { is_free(i) && place[i] == OUTSIDE -> call(i, 0) }
	:: d_step { is_free(i) && place[i] == OUTSIDE -> call(i, 1) }
	:: d_step { is_free(i) && place[i] == IN_TRAMPOLINE -> place[i] = (own_selector(trampoline[i]) == OLD -> GOES_OLD : NOT_OLD) }
	:: d_step { is_free(i) && place[i] == NOT_OLD -> place[i] = (own_selector(trampoline[i]) == NEW -> GOES_NEW : ASKS) }
	:: d_step { is_free(i) && place[i] == ASKS -> place[i] = (selector == OLD -> GOES_OLD : ASKED) }
	:: d_step { is_free(i) && place[i] == ASKED -> place[i] = (selector == NEW -> GOES_NEW : (selector < DRAIN -> WAITING : DRAINED)) }
	:: d_step { is_free(i) && place[i] == DRAINED -> place[i] = WAITING }
	:: d_step { is_free(i) && place[i] == DRAINED -> trampoline[i] = 0; place[i] = IN_OLD + side(selector) }
	:: d_step { is_free(i) && place[i] == WAITING && !holding(selector) -> place[i] = IN_TRAMPOLINE }
	:: d_step { is_free(i) && place[i] == WAITING && holding(selector) && commit_byte != NONE ->
			seen = selector; seen_commit = commit_byte; place[i] = LAPSING }
#ifndef WITHOUT_HOLD_TIMEOUT
	:: d_step { is_free(i) && place[i] == WAITING && holding(selector) && commit_byte == NONE -> seen = selector; place[i] = LAPSING }
#endif
	:: d_step { is_free(i) && place[i] == LAPSING -> end_hold(i) }
	:: d_step { is_free(i) && place[i] == GOES_OLD -> trampoline[i] = 0; enter(i, OLD) }
	:: d_step { is_free(i) && place[i] == GOES_NEW -> trampoline[i] = 0; enter(i, NEW) }
	:: d_step { is_free(i) && (place[i] == IN_OLD || place[i] == IN_NEW) -> place[i] = OUTSIDE }
	:: d_step { work[i] != NO_WORK && (sent == i || (!stopped[i] && sleep[i] == AWAKE)) -> do_work(i) }
	:: d_step { i != RUNNER && !stopped[i] && sleep[i] == AWAKE && runs[i] < WAKES -> sleep[i] = ASLEEP }
	:: d_step { sleep[i] == ASLEEP -> sleep[i] = WOKEN }
	:: d_step { !stopped[i] && sleep[i] == WOKEN -> runs[i]++; sleep[i] = AWAKE }
	od
}

/* The tool. "from" is the side that is to be left, "goal" the other one. */

#ifdef WITH_TRAMPOLINES_CHECKED
#define is_inside(i) (place[i] == IN_OLD + from)
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
		:: holding(selector) && commit_byte != NONE -> become(side(commit_byte))
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
	:: d_step { selector == from -> selector = from + HOLD + DRAIN }
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
	:: selector == from -> selector = from + HOLD
	/* left by a dead tool: a new hold timeout */
	:: selector == from + HOLD -> selector = from + HOLD
	:: selector == from + HOLD + DRAIN -> selector = from + HOLD
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
		:: selector == from + HOLD || selector == from + HOLD + DRAIN -> become(from)
		:: else
		fi
	}
}

/*
 * The commit byte is there, whoever dies, or the hold timeout was over before. Then the selector
 * says it by itself.
 */
inline commit()
{
#ifdef NEVER_DONE
	assert(!(asleep[1] && sleep[1] == ASLEEP));
#endif
#ifdef WITH_PLAIN_COMMIT
	d_step { become(goal) }
#else
	d_step {
		assert(selector != from + HOLD || nobody_in(from));
		commit_byte = commit_of(goal)
	};
	decided = (selector == goal || holding(selector));
	if
	/*
	 * The commit byte may stay: nobody reads it beside such a selector. It goes for the sake of
	 * fewer states.
	 */
	:: decided -> d_step { become(goal); commit_byte = NONE }
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
	:: blocked || side(said) == goal -> skip
	:: else ->
#ifdef WITH_LATE_CLOSE
		recount(); close_trampolines();
#else
		close_trampolines(); recount();
#endif
		if
		:: blocked -> open_trampolines()
		:: else -> commit()
		fi
	fi;
	done = !blocked && side(said) == goal;
	release_all()
}

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
			drain();
#ifdef WITH_EARLY_FINALIZE
			finalize();
#endif
			attempt_once();
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
		decided = false; samples = false; no_agent = false;
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
#define in_trampoline (place[RUNNER] >= IN_TRAMPOLINE && place[RUNNER] <= LAPSING || place[RUNNER] == DRAINED)
ltl goes_on { [] (in_trampoline -> <> !in_trampoline) }
#endif
