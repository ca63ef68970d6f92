/* SPDX-License-Identifier: GPL-3.0-or-later */
/* meter.h - how far a build has come, by what the compiler wrapper has noted */
#ifndef USPL_CREATE_BUILD_METER_H
#define USPL_CREATE_BUILD_METER_H

#include <stdio.h>

#include "create/tree/build.h"

/* Counts what a build has compiled. */
struct meter {
	const struct build_options *options;
	double start;
	FILE *record; /* read as far as it was written; NULL if it isn't there yet */
	struct build_progress progress;
};

/* Begins to measure the time; what as in struct phase. */
void meter_start(struct meter *meter, const struct build_options *options, const char *what);
/* Reads on in the phase's record, and reports; options->progress must not be NULL. */
void meter_report(struct meter *meter, const char *record);
/* Reports the end. */
void meter_stop(struct meter *meter);

#endif
