/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session_grow.h - libraries that were opened since a session has begun become part of it */
#ifndef USPL_TRACE_ENGINE_SESSION_GROW_H
#define USPL_TRACE_ENGINE_SESSION_GROW_H

#include "trace/engine/session.h"

/* A module that was looked at, and of which no function is wanted, or can be traced. */
struct session_passed {
	taddr start;
	uint64_t dev, inode;
};

typedef VEC(struct session_passed) session_passed_vec;

/*
 * True if a module is wanted and isn't traced, or was closed and is there again; nothing in the
 * process is changed to find out. passed: as below.
 */
bool session_can_grow(const struct proc *proc, const module_vec *modules,
		      const struct trace_choice *choice, struct trace_session *session,
		      session_passed_vec *passed);
/* Called when new parts have been loaded, before their functions are on. */
typedef void session_grow_loaded(const struct proc *proc);
/*
 * Traces the functions of libraries that are wanted and aren't traced: they were opened later, or
 * closed and opened again. session: what the process has, which is on. request: as at its start; it
 * listens to nothing. passed: what needn't be looked at again; it is brought up to date. loaded:
 * NULL, or who has to know of it before any call is recorded.
 * *ret_parts: how many libraries are traced now that weren't. A library that can't be traced is
 * left out, and the log says why.
 */
int session_grow(struct proc *proc, const module_vec *modules, const struct trace_request *request,
		 struct trace_session *session, session_passed_vec *passed,
		 session_grow_loaded *loaded, size_t *ret_parts,
		 struct uspl_err *err) uspl_must_check;

#endif
