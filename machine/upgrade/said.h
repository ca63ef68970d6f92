/* SPDX-License-Identifier: GPL-3.0-or-later */
/* said.h - the processes that run an older version of a package, and what is said of them */
#ifndef USPL_MACHINE_UPGRADE_SAID_H
#define USPL_MACHINE_UPGRADE_SAID_H

#include "machine/upgrade/releases.h"

enum answer {
	ANSWER_BEHIND,  /* nothing was done yet; with --dry-run it stays so */
	ANSWER_PATCHED, /* the update is in effect */
	ANSWER_PARTLY,  /* those of some changes are, and a restart brings the others */
	ANSWER_RESTART, /* only a restart helps */
	ANSWER_SAME,    /* the versions differ in no code that it runs */
	ANSWER_ENDED,   /* the process is gone: nothing is said of it */
};

/* A process that runs an older version of a package. */
struct upgrade_case {
	const struct running_process *process;
	const struct release *release;
	char *from;     /* the version that it runs; NULL: not known */
	char *build_id; /* by which that was to be found out */
	enum answer answer;
	bool changed; /* by this command */
	double stop_us;
	char *id;       /* of the update, or updates; NULL: there is none */
	char *left_out; /* the names of changes that they don't bring; NULL: none */
	struct uspl_err why;
};

typedef VEC(struct upgrade_case) upgrade_cases;

/* Prints a line for each case, and for how many processes there is none. */
void said_print(const upgrade_cases *cases, const struct running *running);
/* The same as an object for each process. */
int said_print_json(const upgrade_cases *cases, const struct running *running,
		    struct uspl_err *err) uspl_must_check;
/* The status that the command ends with: that of the worst case. */
int said_status(const upgrade_cases *cases);

#endif
