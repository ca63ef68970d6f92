/* SPDX-License-Identifier: MIT */
/* alloc.h - which blocks are live, and which call sites asked for them */
#ifndef USPL_RUNTIME_LISTEN_ALLOC_H
#define USPL_RUNTIME_LISTEN_ALLOC_H

#include "runtime/listen/call_ctx.h"

/* A function that allocates or frees. */
HIDDEN void alloc_enter(const struct call_ctx *ctx);
HIDDEN void alloc_leave(const struct call_ctx *ctx);

#endif
