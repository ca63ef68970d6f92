/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.h - system calls with a time-out, for which nothing ever comes */
#ifndef USPL_TESTS_WAITS_H
#define USPL_TESTS_WAITS_H

#include <time.h>

#define WAIT_SECONDS 4

struct wait {
	const char *name;
	/* Waits WAIT_SECONDS; 0 if the call says that the time is over. */
	int (*wait)(void);
	/* What is passed is used again afterwards: the time-out begins anew. */
	int anew;
};

/* The end has no name. */
extern const struct wait waits[];

/* Makes what the calls need. */
void waits_make(void);

#endif
