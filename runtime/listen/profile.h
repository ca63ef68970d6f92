/* SPDX-License-Identifier: MIT */
/* profile.h - what the tracer profile does beside adding up */
#ifndef USPL_RUNTIME_LISTEN_PROFILE_H
#define USPL_RUNTIME_LISTEN_PROFILE_H

#include "runtime/listen/call_ctx.h"

/* What becomes of a call. */
struct profile_entered {
	uint64_t back; /* its return address; 0: it can't be followed */
	uint64_t done; /* 1: it is on the thread's list already */
};

/* Where a call begins. thunk: behind its call of the runtime. */
struct profile_call {
	struct uspl_trace_thread *thread;
	uint64_t at; /* where the return address lies */
	const uint8_t *thunk;
};

/*
 * A call that begins where something is left of others: they were left, or this one is the end of
 * another one (tail call). Afterwards its slot is free.
 */
HIDDEN struct profile_entered profile_enter(const struct profile_call *call);
/* A call of the function `id` has returned, whose return address lay at `at`. */
HIDDEN void profile_leave(uint64_t at, uint32_t id);

#endif
