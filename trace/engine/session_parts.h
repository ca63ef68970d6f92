/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session_parts.h - the parts of a session, one for each module: for what makes sessions */
#ifndef USPL_TRACE_ENGINE_SESSION_PARTS_H
#define USPL_TRACE_ENGINE_SESSION_PARTS_H

#include "record/region.h"
#include "trace/engine/patch_module.h"
#include "trace/engine/session.h"

/* A session while it is started. */
struct starting {
	struct proc *proc;
	const module_vec *modules;
	const struct trace_request *request;
	region_vec updates; /* that are in the process */
	size_t before;      /* parts that the session has already */
	struct uspl_trace_region shared;
	struct trace_session session;
	bool stays; /* the memory, although it failed */
};

/* Frees what is ours of it; what is in the process stays. */
void session_starting_release(struct starting *starting);
DEFINE_AUTO_RELEASE(starting, struct starting, session_starting_release)
#define auto_starting __attribute__((cleanup(cleanup_starting_)))

/*
 * Before any part is loaded: reads the updates that are in the process (those of modules that are
 * gone say so), and refuses a process whose runtime can't have its calls' returns traced, if they
 * are to be.
 */
int session_look_first(struct starting *starting, struct uspl_err *err) uspl_must_check;
/*
 * Loads a module's part, if functions of it are wanted. *mcount: the calls of a profiler that were
 * turned into NOPs.
 */
int session_try_module(struct starting *starting, const struct module *module,
		       struct patch_result *mcount, struct uspl_err *err) uspl_must_check;
/*
 * Tells the program's unwinder of all thunks that it doesn't know: what returns through them must
 * be found.
 */
int session_tell_unwinder(struct proc *proc, const module_vec *modules,
			  const struct trace_session *session,
			  struct uspl_err *err) uspl_must_check;
/*
 * Unmaps a part that no thread is in. One that the program's unwinder can't be told to forget stays
 * mapped: it would ask for it.
 */
int session_unload_module(struct proc *proc, const module_vec *modules,
			  const struct trace_region *region, struct uspl_err *err) uspl_must_check;

#endif
