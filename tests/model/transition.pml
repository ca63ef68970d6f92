// SPDX-License-Identifier: GPL-3.0-or-later
// transition.pml - the switch that wakes nobody (docs/transition.md), for spin to try in every order
/*
 * One thread that runs all the time, and two that may fall asleep and wake up at any moment, in the
 * middle of a gate too, call two functions again and again. A tool applies an update of both. It may
 * be killed before any of its steps: then all threads that it holds are let go. A second tool comes
 * and applies the update or undoes it. Each line of a thread and of a tool is one step; between two
 * of them anything else may happen. There is no time here: a lease may be over at once.
 *
 *     together   whoever enters old code does so while the word says old, and when the word changes
 *                to new, nobody is in old code; the same with old and new exchanged
 *     released   a tool that ends has let everybody go
 *     goes_on    a thread that waits in a gate gets out of it, whoever has died
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

/* The word: one bit says the side, one that gates hold. */
#define OLD 0
#define NEW 1
#define HOLD 2
#define side(w) ((w) & 1)
#define other(s) (1 - (s))
#define holding(w) ((w) >= HOLD)
/* DRAINS: before it closes the gates a tool may have them let pass whom they take to be inside. */
#define DRAIN 8
byte word = OLD;

/* Beside it, what a tool has decided while the word held: none, or a side. Threads read both at once. */
#define NONE 0
#define verdict_of(s) (2 + (s))
byte verdict = NONE;
#define said (holding(word) && verdict != NONE -> side(verdict) : word)

/*
 * SEVERAL: the second function is another module's, whose gates have a word of their own. That says
 * what is the case, or that the first one decides.
 */
#define FOLLOW 4
#ifdef SEVERAL
byte word_beside = OLD;
#define own_word(f) ((f) == 0 -> word : word_beside)
#else
#define own_word(f) word
#endif

/* What stands at an entry. */
#define ORIGINAL 0
#define GATED 1
#define DIRECT 2
byte entry[FUNCTIONS];

/* Where a thread is. */
#define OUTSIDE 0
#define IN_GATE 1 /* will read its gate's own word */
#define NOT_OLD 2 /* has read it: not OLD; will read it again */
#define ASKS 3 /* nor NEW: will read the word that decides */
#define ASKED 4 /* has read it: not OLD; will read it again */
#define WAITING 5
#define LAPSING 6 /* has waited long enough, or read a verdict; will end the hold */
#define GOES_OLD 7 /* has read OLD, is still in the gate */
#define GOES_NEW 8
#define IN_OLD 9
#define IN_NEW 10
#define DRAINED 11 /* has read a DRAIN: finds out whether it may pass */
byte place[THREADS];
byte gate[THREADS]; /* which one, where it reads words */

#define AWAKE 0
#define ASLEEP 1
#define WOKEN 2 /* may run; no processor has taken it yet */
byte sleep[THREADS];
byte runs[THREADS]; /* the run counts */
bool stopped[THREADS];
#define is_free(i) (!stopped[i] && sleep[i] == AWAKE && work[i] == NO_WORK)

/* What a thread has been given to do for a tool. The agent finishes it even if the tool is gone. */
#define NO_WORK 0
#define SETTLE 1 /* the store that makes an entry direct */
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
#ifdef WITH_DRAINED_CLEAN
#define in_drain(i) false
#else
#define in_drain(i) (place[i] == DRAINED)
#endif

inline become(w)
{
	assert(side(word) == side(w) || nobody_in(side(word)));
	word = w
}

inline enter(i, s)
{
	assert(side(word) == s);
	place[i] = IN_OLD + s
}

inline call(i, f)
{
	if
	:: entry[f] == ORIGINAL -> enter(i, OLD)
	:: entry[f] == DIRECT -> enter(i, NEW)
	:: entry[f] == GATED -> place[i] = IN_GATE; gate[i] = f
	fi
}

/* Whoever waits ends the hold, by the verdict or by the lease, if both bytes are still as read. */
inline end_hold(i)
{
	if
#ifdef WITH_PLAIN_LAPSE
	:: seen_verdict == NONE -> become(side(seen))
#endif
#ifdef WITH_NARROW_LAPSE
	:: seen_verdict == NONE && word == seen -> become(side(seen))
#endif
	:: word == seen && verdict == seen_verdict && verdict == NONE -> become(side(seen))
	:: word == seen && verdict == seen_verdict && verdict != NONE -> become(side(verdict)); verdict = NONE
	:: else
	fi;
	seen = 0;
	seen_verdict = NONE;
	place[i] = IN_GATE
}

inline do_work(i)
{
	entry[work_entry] = DIRECT;
	work[i] = NO_WORK;
	sent = NOBODY
}

proctype Thread(byte i)
{
	byte seen, seen_verdict; /* as read by whoever is about to end the hold */

end:	do
	:: d_step { is_free(i) && place[i] == OUTSIDE -> call(i, 0) }
	:: d_step { is_free(i) && place[i] == OUTSIDE -> call(i, 1) }
	:: d_step { is_free(i) && place[i] == IN_GATE -> place[i] = (own_word(gate[i]) == OLD -> GOES_OLD : NOT_OLD) }
	:: d_step { is_free(i) && place[i] == NOT_OLD -> place[i] = (own_word(gate[i]) == NEW -> GOES_NEW : ASKS) }
	:: d_step { is_free(i) && place[i] == ASKS -> place[i] = (word == OLD -> GOES_OLD : ASKED) }
	:: d_step { is_free(i) && place[i] == ASKED -> place[i] = (word == NEW -> GOES_NEW : (word < DRAIN -> WAITING : DRAINED)) }
	:: d_step { is_free(i) && place[i] == DRAINED -> place[i] = WAITING }
	:: d_step { is_free(i) && place[i] == DRAINED -> gate[i] = 0; place[i] = IN_OLD + side(word) }
	:: d_step { is_free(i) && place[i] == WAITING && !holding(word) -> place[i] = IN_GATE }
	:: d_step { is_free(i) && place[i] == WAITING && holding(word) && verdict != NONE ->
			seen = word; seen_verdict = verdict; place[i] = LAPSING }
#ifndef WITHOUT_LEASE
	:: d_step { is_free(i) && place[i] == WAITING && holding(word) && verdict == NONE -> seen = word; place[i] = LAPSING }
#endif
	:: d_step { is_free(i) && place[i] == LAPSING -> end_hold(i) }
	:: d_step { is_free(i) && place[i] == GOES_OLD -> gate[i] = 0; enter(i, OLD) }
	:: d_step { is_free(i) && place[i] == GOES_NEW -> gate[i] = 0; enter(i, NEW) }
	:: d_step { is_free(i) && (place[i] == IN_OLD || place[i] == IN_NEW) -> place[i] = OUTSIDE }
	:: d_step { work[i] != NO_WORK && (sent == i || (!stopped[i] && sleep[i] == AWAKE)) -> do_work(i) }
	:: d_step { i != RUNNER && !stopped[i] && sleep[i] == AWAKE && runs[i] < WAKES -> sleep[i] = ASLEEP }
	:: d_step { sleep[i] == ASLEEP -> sleep[i] = WOKEN }
	:: d_step { !stopped[i] && sleep[i] == WOKEN -> runs[i]++; sleep[i] = AWAKE }
	od
}

/* The tool. "from" is the side that is to be left, "goal" the other one. */

#ifdef WITH_GATES_CLEAN
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
	word_beside = w
#else
	skip
#endif
}

inline gate_entries()
{
#ifndef WITHOUT_FOLLOWING
	say_beside(FOLLOW);
#endif
	i = 0;
	do
	:: d_step { i < FUNCTIONS -> entry[i] = GATED; i++ }
#ifdef WITHOUT_GATING
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

/* Only what a stopped thread's agent has written last could be other than GATED. */
inline verify_entries()
{
#ifndef WITHOUT_VERIFY
	blocked = blocked || entry[0] != GATED;
	blocked = blocked || entry[1] != GATED;
#endif
	skip
}

/* What a dead tool has decided becomes the word, before its verdict is forgotten. */
inline end_verdict()
{
#ifndef WITHOUT_END
	d_step {
		if
		:: holding(word) && verdict != NONE -> become(side(verdict))
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
#ifndef WITH_STALE_VERDICT
	verdict = NONE;
#endif
	if
	:: d_step { word == from -> word = from + HOLD + DRAIN }
	:: skip
	fi
#else
	skip
#endif
}

inline close_gates()
{
#ifndef WITH_STALE_VERDICT
	verdict = NONE;
#endif
	if
	:: word == from -> word = from + HOLD
	:: word == from + HOLD -> word = from + HOLD /* left by a dead tool: a new lease */
	:: word == from + HOLD + DRAIN -> word = from + HOLD
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
	:: d_step { i < THREADS && !watches && !(asleep[i] && runs[i] != count[i]) -> i++ }
	:: i < THREADS && !watches && asleep[i] && runs[i] != count[i] ->
		stop(i);
		d_step { asleep[i] = false; blocked = blocked || in_way(i); i++ }
	:: d_step { i < THREADS && watches && asleep[i] && runs[i] == count[i] -> i++ }
	:: d_step { i < THREADS && watches && !(asleep[i] && runs[i] == count[i]) -> blocked = blocked || in_way(i); i++ }
	:: i == THREADS -> break
	od
#endif
	skip
}

/* The runner, in its stop, the others stopped, too. */
inline lead_runner(what)
{
	d_step { work[RUNNER] = what; sent = RUNNER };
	sent == NOBODY
}

/* Whoever waits may do the same at the same time. */
inline open_gates()
{
	d_step {
		if
		:: word == from + HOLD || word == from + HOLD + DRAIN -> become(from)
		:: else
		fi
	}
}

/*
 * The verdict is there, whoever dies, or the lease was over before. Then the word says it by itself.
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
		assert(word != from + HOLD || nobody_in(from));
		verdict = verdict_of(goal)
	};
	decided = (word == goal || holding(word));
	if
	/* The verdict may stay: nobody reads it beside such a word. It goes for the sake of fewer states. */
	:: decided -> d_step { become(goal); verdict = NONE }
	:: else
	fi;
	decided = false
#endif
}

inline attempt_once()
{
	look();
	watches = false;
	if
#ifndef ONLY_WATCH
	:: !blocked -> stop_others(); verify_entries()
#endif
	:: !blocked && no_agent -> watches = true
#ifdef ONLY_WATCH
	:: !blocked && !no_agent -> blocked = true
#endif
	:: else
	fi;
	if
	:: blocked || side(said) == goal -> skip
	:: else ->
#ifdef WITH_LATE_CLOSE
		recount(); close_gates();
#else
		close_gates(); recount();
#endif
		if
		:: blocked -> open_gates()
		:: else -> commit()
		fi
	fi;
	done = !blocked && side(said) == goal;
	release_all()
}

/* Entries become direct by the agent's store, original by the tool's one byte. */
inline settle()
{
	say_beside(goal);
	stop(RUNNER);
	i = 0;
	do
	:: d_step { i < FUNCTIONS && goal == OLD -> entry[i] = ORIGINAL; i++ }
	:: i < FUNCTIONS && goal == NEW -> work_entry = i; lead_runner(SETTLE); i++
	:: i == FUNCTIONS -> break
	od;
	stopped[RUNNER] = false
}

proctype Tool(byte goal)
{
	byte from = other(goal);
	byte i, attempts;
	bool blocked, done, decided;
	bool watches;  /* nobody is stopped */
	bool no_agent; /* of a tool that has died */
	byte count[THREADS];
	bool asleep[THREADS];

	{
		no_agent = (work[RUNNER] == NO_WORK);
		do
		:: !done && attempts < ATTEMPTS ->
			end_verdict();
			gate_entries();
			drain();
#ifdef WITH_EARLY_SETTLE
			settle();
#endif
			attempt_once();
			attempts++
		:: else -> break
		od;
		if
		:: done -> settle()
		:: else -> open_gates()
		fi;
		assert(!stopped[0] && !stopped[THREADS - 1] && !stopped[THREADS / 2])
	} unless { killed };
	d_step {
		killed = false;
		from = 0; goal = 0; i = 0; attempts = 0; blocked = false; done = false;
		decided = false; watches = false; no_agent = false;
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
#define in_gate (place[RUNNER] >= IN_GATE && place[RUNNER] <= LAPSING || place[RUNNER] == DRAINED)
ltl goes_on { [] (in_gate -> <> !in_gate) }
#endif
