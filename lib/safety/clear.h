/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clear.h - which threads are still in code that nobody enters any more */
#ifndef USPL_SAFETY_CLEAR_H
#define USPL_SAFETY_CLEAR_H

#include "safety/safety.h"
#include "thread/asleep.h"
#include "thread/stop.h"

/* Code that nobody enters any more, and how many threads are in it. */
struct clear {
	struct safety text, agents;
	size_t in_text, in_agents;
	tid_vec *inside; /* the caller's, or NULL: clear_look lists those that are in the text */
	/* The longest time that those stood still that had to be stopped to be looked at. */
	double stop_us;
	bool parked;       /* what is in the text is a stack that no thread is on */
	size_t put_back;   /* calls on such stacks that were made to return without the text */
	uint64_t left_out; /* bytes of memory that clear_look_parked didn't look at */
	/* Its own: of clear_look_ahead, and whether a sleeper was found that isn't free of both. */
	struct asleep asleep;
	bool ahead, doubt;
};

/* Looks at all threads; sleepers aren't woken unless there is doubt about them. */
int clear_look(struct clear *clear, struct uspl_err *err) uspl_must_check;
/* What is done about stacks that no thread is on. */
struct clear_way {
	uint64_t scan_bytes; /* how much memory is looked through for them */
	/*
	 * None is in the way: return addresses are put back on those that an unwind was lost on,
	 * too, and what still leads into the text doesn't count. Not heeded where a thread of the
	 * process has a shadow stack (shstk.h): nothing can be put back there.
	 */
	bool force;
};

/* As much memory is looked through unless something else is asked for. */
#define CLEAR_SCAN_BYTES (4ull << 30)

/*
 * For looks that are to be quick, to be called when the code is known (safety_seal), although it
 * may still be entered: looks at those that sleep. What is found of them holds until they run, so
 * that clear_look has but to see whether they have: 1 us each. clear_forget must follow.
 */
int clear_look_ahead(struct clear *clear, struct uspl_err *err) uspl_must_check;
/* Frees what was found ahead, if anything was. */
void clear_forget(struct clear *clear);
/*
 * Where clear_look has found no thread in the text: looks for stacks that nobody is on, and that
 * somebody may go back to (safety/parked.h). Calls on these that return to thunks of the tracer in
 * the text are made to return without them. One or more that lead into the text all the same count
 * as one thread.
 */
int clear_look_parked(struct clear *clear, const struct clear_way *way,
		      struct uspl_err *err) uspl_must_check;
/* Counts a stop that is over for clear->stop_us, if there was one. */
void clear_note_stop(struct clear *clear, const struct stop *stop);

#endif
