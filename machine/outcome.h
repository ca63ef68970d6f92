/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcome.h - what an uspl-apply --json that ran as a child says of processes */
#ifndef USPL_MACHINE_OUTCOME_H
#define USPL_MACHINE_OUTCOME_H

#include <sys/types.h>

#include "base/types.h"

/* What became of an update in a process. */
struct outcome {
	pid_t pid;
	const char *id;
	const char *error;   /* the cause in one word; NULL: it is in effect */
	const char *message; /* of a failure */
	bool changed;        /* it wasn't in effect before */
	double stop_us;
};

/* Calls `take` for each line of the text; what the outcome points to lasts as long as the call. */
void outcome_each(const char *text, void (*take)(const struct outcome *outcome, void *ctx),
		  void *ctx);

#endif
