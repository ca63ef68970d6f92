/* SPDX-License-Identifier: MIT */
/* args_ring.h - the values of arguments and results */
#ifndef USPL_RUNTIME_LISTEN_ARGS_RING_H
#define USPL_RUNTIME_LISTEN_ARGS_RING_H

#include "runtime/listen/call_ctx.h"

/* Writes a record with the function's arguments, or its result. */
HIDDEN void args_enter(const struct call_ctx *ctx);
HIDDEN void args_leave(const struct call_ctx *ctx);
/* Writes the record of a call that ends now, as trace.S does it. */
HIDDEN void args_write_call(const struct call_ctx *ctx);

#endif
