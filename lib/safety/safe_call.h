/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safe_call.h - calls of the program's own functions, in a thread that holds none of their locks */
#ifndef USPL_SAFETY_SAFE_CALL_H
#define USPL_SAFETY_SAFE_CALL_H

#include "inject/inject.h"
#include "proc/module.h"

/*
 * Runs the requests (inject.h) in a thread that holds no lock of the allocator, the dynamic linker
 * or libgcc. USPL_E_BUSY: for some seconds no thread was at a place where that is certain; then
 * nothing was called.
 */
int safe_call_run(struct proc *proc, const module_vec *modules, struct inject_req *reqs, size_t n,
		  struct uspl_err *err) uspl_must_check;

/* What a record of the tool's is to say when a call has been made. */
struct safe_call_note {
	taddr at; /* of the 4 bytes, in memory that the program itself can't write */
	uint32_t value;
};

/* What a noted call is made of. */
#define SAFE_CALL_REQUESTS 4

/*
 * Fills in the requests for a call and its note, for a caller that has its own thread for them:
 * ret[0] is a system call whose failure ends the run, ret[1] the call.
 */
int safe_call_note_requests(const struct proc *proc, const struct inject_req *call,
			    const struct safe_call_note *note, struct inject_req *ret,
			    struct uspl_err *err) uspl_must_check;

/*
 * Makes one call (INJECT_CALL) and the note in the same run, which the thread finishes even if the
 * tool dies meanwhile: for a function that must not be called twice, and that the next command has
 * to know of. After a failure other than USPL_E_BUSY the note itself tells whether the call was
 * made. watch may be NULL; with it ^C doesn't end the wait for a fit
 * thread. If it tells that the call has failed, the note wasn't made, and the
 * memory is as it was. call->result is what was returned.
 */
int safe_call_run_noted(struct proc *proc, const module_vec *modules, struct inject_req *call,
			const struct safe_call_note *note, struct inject_watch *watch,
			struct uspl_err *err) uspl_must_check;

#endif
