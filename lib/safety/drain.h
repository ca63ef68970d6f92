/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drain.h - which threads are still in code that no thread enters any more */
#ifndef USPL_SAFETY_DRAIN_H
#define USPL_SAFETY_DRAIN_H

#include "safety/safety.h"
#include "thread/blocked.h"
#include "thread/stop.h"

/* Code that no thread enters any more, and how many threads are in it. */
struct drain {
	struct safety text, agents;
	size_t in_text, in_agents;
	tid_vec *inside; /* the caller's, or NULL: drain_look lists those that are in the text */
	/* The longest time that threads which had to be stopped for a look stood still. */
	double stop_us;
	bool inactive;     /* what is in the text is a stack that no thread is on */
	size_t put_back;   /* calls on such stacks that were made to return without the text */
	uint64_t left_out; /* bytes of memory that drain_look_inactive didn't look at */
	/* Its own: what drain_look_ahead found, and whether a sleeper isn't free of both. */
	struct blocked blocked;
	bool ahead, doubt;
};

/* Looks at all threads; sleepers aren't woken unless there is doubt about them. */
int drain_look(struct drain *drain, struct uspl_err *err) uspl_must_check;
/* What drain_look_inactive does about stacks that no thread is on. */
struct drain_way {
	uint64_t scan_bytes; /* how much memory is looked through for them */
	/*
	 * No such stack is in the way: return addresses are put back even on those that an unwind
	 * was lost on, and what still leads into the text doesn't count. Has no effect where a
	 * thread of the process has a shadow stack (shstk.h): nothing can be put back there.
	 */
	bool force;
};

/* As much memory is looked through unless something else is asked for. */
#define DRAIN_SCAN_BYTES (4ull << 30)

/*
 * Makes later looks quick: looks at the threads that sleep. To be called when the code is known
 * (safety_seal), although it may still be entered. What is found of them holds until they run, so
 * that drain_look only has to see whether they have: 1 us each. drain_forget must follow.
 */
int drain_look_ahead(struct drain *drain, struct uspl_err *err) uspl_must_check;
/* Frees what was found ahead, if anything was. */
void drain_forget(struct drain *drain);
/*
 * Where drain_look has found no thread in the text: looks for stacks that no thread is on, and that
 * one may go back to (safety/inactive.h). Calls on these that return to thunks of the tracer in the
 * text are made to return without them. Calls that lead into the text all the same count as one
 * thread together.
 */
int drain_look_inactive(struct drain *drain, const struct drain_way *way,
			struct uspl_err *err) uspl_must_check;
/* Counts a stop that is over in drain->stop_us, if there was one. */
void drain_note_stop(struct drain *drain, const struct stop *stop);

#endif
