/* SPDX-License-Identifier: MIT */
/* lock.h - how long locks are waited for and held, and signals blocked */
#ifndef USPL_RUNTIME_LISTEN_LOCK_H
#define USPL_RUNTIME_LISTEN_LOCK_H

#include "runtime/listen/call_ctx.h"

/* A function that takes or leaves a lock, or blocks signals. */
HIDDEN void lock_enter(const struct call_ctx *ctx);
HIDDEN void lock_leave(const struct call_ctx *ctx);
HIDDEN void sigoff_enter(const struct call_ctx *ctx);
HIDDEN void sigoff_leave(const struct call_ctx *ctx);
/* One span of a lock or of blocked signals, from since on until lock_note_hold() is called. */
struct span {
	uint64_t since, site, signals;
};
HIDDEN struct uspl_lock *lock_find(const struct call_ctx *ctx, uint64_t addr);
HIDDEN void lock_note_hold(const struct call_ctx *ctx, struct uspl_lock *lock,
			   const struct span *span);

#endif
