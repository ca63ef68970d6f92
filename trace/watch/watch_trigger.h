/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch_trigger.h - triggers of tracers that observe
 *
 * The functions that triggers are about are traced, in a session of their own, of which nothing but
 * the triggers is of interest. The tool looks every millisecond whether one was taken.
 */
#ifndef USPL_TRACE_WATCH_WATCH_TRIGGER_H
#define USPL_TRACE_WATCH_WATCH_TRIGGER_H

#include "base/cli.h"
#include "proc/proc.h"

struct watch_trigger {
	bool on;                 /* there are any */
	bool waits, ends;        /* for one that starts; for one that stops */
	const struct proc *proc; /* the caller's */
	taddr config;
};

/* How often the tool looks at them. */
#define WATCH_TRIGGER_NS 1000000ll

/*
 * Starts the session, if there are triggers; proc must outlive it. watch_trigger_end must follow in
 * any case. USPL_E_CONFLICT: the process is traced already.
 */
int watch_trigger_begin(struct watch_trigger *trigger, const cli_strings *words,
			const struct proc *proc, struct uspl_err *err) uspl_must_check;
/* Ends the session; what stays of it is noted in the log. */
void watch_trigger_end(struct watch_trigger *trigger);
/* True if one that starts was taken, or if there is none. */
bool watch_trigger_started(const struct watch_trigger *trigger);
/* True if one that stops was taken. */
bool watch_trigger_stopped(const struct watch_trigger *trigger);

#endif
