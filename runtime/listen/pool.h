/* SPDX-License-Identifier: MIT */
/* pool.h - work, from where it is queued to where it is run */
#ifndef USPL_RUNTIME_LISTEN_POOL_H
#define USPL_RUNTIME_LISTEN_POOL_H

#include "runtime/listen/call_ctx.h"

/* A function that queues an item, or runs one. */
HIDDEN void pool_enter(const struct call_ctx *ctx);
HIDDEN void pool_leave(const struct call_ctx *ctx);

#endif
