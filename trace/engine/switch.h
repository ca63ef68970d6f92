/* SPDX-License-Identifier: GPL-3.0-or-later */
/* switch.h - all sites of a session, on or off */
#ifndef USPL_TRACE_ENGINE_SWITCH_H
#define USPL_TRACE_ENGINE_SWITCH_H

#include "safety/drain.h"

struct trace_session;
struct trace_switch;

struct switch_way {
	bool on;
	struct drain_way drain; /* off: what is done about stacks that no thread is on */
};

/*
 * Switches all sites of the session, on or off. On failure some may have been switched: off again
 * takes them back. ret->inside is known only of a switch off.
 */
int switch_sites(struct proc *proc, const module_vec *modules, struct trace_session *session,
		 const struct switch_way *way, struct trace_switch *ret,
		 struct uspl_err *err) uspl_must_check;

#endif
