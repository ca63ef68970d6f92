/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - what is enabled, and in how many processes, for Prometheus
 *
 * The text format, version 0.0.4, as node_exporter's textfile collector reads it: one family of
 * samples behind the other. Names and meanings are a contract (uspl-list(1)).
 */
#ifndef USPL_MACHINE_METRICS_H
#define USPL_MACHINE_METRICS_H

#include <time.h>

#include "base/buf.h"
#include "base/vec.h"

/* What a process that an enabled update is for has of it. */
enum metrics_state {
	METRICS_APPLIED, /* it is in effect */
	METRICS_MISSING, /* it isn't, and no watch has said why */
	METRICS_WAITING, /* a watch was refused, and will try again */
	METRICS_REFUSED, /* a watch was refused, and won't */
	METRICS_STATES,
};

struct metrics_update {
	const char *id;    /* of the list of enabled updates */
	char *description; /* the update's own */
	time_t since;      /* 0: not known */
	bool damaged;      /* its file can't be read: nothing else is known */
	size_t processes[METRICS_STATES];
};

typedef VEC(struct metrics_update) metrics_update_vec;

/* Appends all of it; watched says that a watch is at work on the machine. */
void metrics_add(const metrics_update_vec *updates, bool watched, struct buf *out);
/* Frees the descriptions and the array. */
void metrics_updates_release(metrics_update_vec *updates);

DEFINE_AUTO_RELEASE(metrics_updates, metrics_update_vec, metrics_updates_release)
#define auto_metrics_updates __attribute__((cleanup(cleanup_metrics_updates_)))

#endif
