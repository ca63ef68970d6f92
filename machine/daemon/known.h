/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.h - what a watch knows of the processes that an update may be for */
#ifndef USPL_MACHINE_DAEMON_KNOWN_H
#define USPL_MACHINE_DAEMON_KNOWN_H

#include "base/json.h"
#include "machine/census.h"
#include "machine/daemon/batch.h"

enum known_state {
	KNOWN_WORKING, /* in the queue, or a batch is at it */
	KNOWN_DONE,    /* it has all that is for it */
	KNOWN_REFUSED, /* for good: until it executes another program, or the list changes */
	KNOWN_RETRY,   /* it is tried again when it is due */
};

struct known_process {
	struct census_process process;
	enum known_state state;
	size_t batch;  /* the number of the batch that is at it; 0: none */
	bool is_meant; /* some update is in effect, or isn't for another reason than its code */
	int tries;
	int64_t due;                /* clock_now_ns */
	char *id, *error, *message; /* of what went wrong last, NULL if nothing did */
	bool seen;                  /* by the sweep that goes on */
};

typedef VEC(struct known_process) known_vec;

/* The process, if it is known and is still the one that had the pid then; else NULL. */
struct known_process *known_find(const known_vec *known, const struct census_process *process);
/* A new one, or the known one, which is to be worked on. NULL when out of memory. */
struct known_process *known_add(known_vec *known, const struct census_process *process);
/* Whatever has this pid isn't known any more. */
void known_forget(known_vec *known, pid_t pid);
/* Forgets those that the sweep hasn't seen. */
void known_drop_unseen(known_vec *known);
/* What the batch of that number has found out of an update in a process. */
void known_take(known_vec *known, size_t batch, const struct outcome *outcome);
/*
 * True if no update was or may come to be in effect, since its program has other code: a package's
 * next version, for instance, which has the fix.
 */
bool known_is_other_program(const struct known_process *known);
/*
 * The batch has ended. Where it has said nothing, or a cause that may pass, there is another try,
 * later each time.
 */
void known_end_batch(known_vec *known, size_t batch, int64_t now);
/* When the next try is due; 0: none. */
int64_t known_next_due(const known_vec *known);
/* The members of an array of objects: the processes that aren't done. */
void known_json(const known_vec *known, struct json *json);
void known_release(known_vec *known);

#endif
