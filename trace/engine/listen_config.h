/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listen_config.h - what listeners are to do, brought into the target */
#ifndef USPL_TRACE_ENGINE_LISTEN_CONFIG_H
#define USPL_TRACE_ENGINE_LISTEN_CONFIG_H

#include "base/types.h"

struct proc;
struct trace_request;
struct trace_session;
struct uspl_err;
struct uspl_trace_region;

/*
 * Maps the listener config of a session whose parts are loaded, and lays on it what the request's
 * plan says; notes it in the parts' records. On failure it may be mapped: listen_config_close.
 */
int listen_config_open(struct proc *proc, const struct trace_request *request,
		       struct trace_session *session, struct uspl_err *err) uspl_must_check;
/*
 * Unmaps it, if there is one; what is left on failure is found by shared_maps_sweep (shared_map.h).
 */
int listen_config_close(struct proc *proc, const struct uspl_trace_region *head,
			struct uspl_err *err) uspl_must_check;

#endif
